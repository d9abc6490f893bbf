/** Parses a prompt: its task, question and answer format. */

import {
  textOf,
  toolNames,
  toolResultsIn,
  type GenerateContentRequest,
  type RequestContent,
  type ToolResult,
} from "./request.ts";
import type { TaskKind } from "../scenario.ts";

export interface PromptReading {
  kind: TaskKind;
  question: string;
  /** What the answer should be like, if the prompt says so. */
  wishes: string | undefined;
  round: number | undefined;
  /** The prompt's example of an answer, as JSON text. */
  example: string | undefined;
  /** The result that a verification has to check. */
  currentResult: string | undefined;
  /** The claims that a verification has to check; undefined if the prompt lists none. */
  claims: ListedClaim[] | undefined;
  /** The output that a correction has to format. */
  invalidOutput: string | undefined;
  /** Results of the model's function calls for this task so far. */
  toolResults: ToolResult[];
}

interface ListedClaim {
  n: number;
  text: string;
  /** The pages it cites, with their numbers in the list. */
  pages: { n: number; url: string }[];
  /** Why the last check of it was not accepted. */
  reason?: string;
}

const HEADINGS: ReadonlyMap<string, TaskKind> = new Map([
  ["search", "search"],
  ["deep search", "deep_search"],
  ["verify", "verify"],
  ["research report", "research_report"],
  ["correct json", "correct_json"],
]);

function taskIn(text: string): TaskKind | undefined {
  const heading = /^# Task: (.+)$/m.exec(text)?.[1] ?? "";
  return HEADINGS.get(heading.trim().toLowerCase());
}

/** The closing line must contain the same fence, because the text may imitate a closing line. */
function marked(text: string, label: string): string | undefined {
  const block = new RegExp(`^-----BEGIN (?:${label})(.*)-----\\n([\\s\\S]*?)\\n-----END (?:${label})\\1-----$`, "m");
  return block.exec(text)?.[2];
}

/** Uses the last fence, because a text to be corrected comes before it and may contain fences. */
function exampleIn(text: string): string | undefined {
  const start = text.lastIndexOf("```json\n");
  return start < 0 ? undefined : text.slice(start + 8).split("\n```", 1)[0];
}

function roundOf(kind: TaskKind, text: string): number | undefined {
  if (kind === "deep_search") return 1;
  if (kind !== "verify") return undefined;
  const round = /\bround (\d+)\b/.exec(text)?.[1];
  return round === undefined ? undefined : Number(round);
}

/** `1. Sentence. [1] [2]`, and below `[1] URL`. */
function claimsIn(list: string | undefined): ListedClaim[] | undefined {
  if (list === undefined) return undefined;
  const urls = new Map([...list.matchAll(/^\[(\d+)\] (\S+)$/gm)].map(([, n = "", url = ""]) => [Number(n), url]));
  return [...list.matchAll(/^(\d+)\. (.*?)((?: \[\d+\])+| \(no source\))(?: – last check: (.*))?$/gm)].map(
    ([, n = "", text = "", marks = "", reason]) => ({
      ...(reason === undefined ? {} : { reason }),
      n: Number(n),
      text,
      pages: [...marks.matchAll(/\d+/g)].flatMap(([page]) => {
        const url = urls.get(Number(page));
        return url === undefined ? [] : [{ n: Number(page), url }];
      }),
    }),
  );
}

function readTask(kind: TaskKind, text: string): PromptReading {
  return {
    kind,
    question: marked(text, "QUESTION|TOPIC") ?? "",
    wishes: marked(text, "WISHES"),
    round: roundOf(kind, text),
    example: exampleIn(text),
    currentResult: marked(text, "CURRENT RESULT"),
    claims: kind === "verify" ? claimsIn(marked(text, "CLAIMS")) : undefined,
    invalidOutput: marked(text, "INVALID OUTPUT"),
    toolResults: [],
  };
}

/** The Gemini CLI puts its own context before the user's text. */
function lastText(messages: RequestContent[]): string {
  const texts = messages.flatMap((message) => message.parts.flatMap(({ text }) => text ?? []));
  return (texts.at(-1) ?? "").trim();
}

function kindWithoutTask(request: GenerateContentRequest): TaskKind {
  const tools = toolNames(request);
  if (tools.includes("googleSearch")) return "web_search";
  return tools.includes("urlContext") ? "web_fetch" : "other";
}

type Clean = (text: string) => string;

interface ReadOptions {
  /** The Gemini CLI reads `@path` as a file, and `\@` as a plain `@`. */
  unescapeAt: boolean;
}

/** Uses the last task and everything after it; the CLI may add a message such as "Please continue." */
function readConversation({ contents }: GenerateContentRequest, clean: Clean): PromptReading | undefined {
  const index = contents.findLastIndex((content) => content.role !== "model" && taskIn(textOf(content)) !== undefined);
  const task = contents[index];
  const text = task === undefined ? "" : clean(textOf(task));
  const kind = taskIn(text);
  if (kind === undefined) return undefined;
  return { ...readTask(kind, text), toolResults: toolResultsIn(contents.slice(index + 1)) };
}

function readWithoutTask(request: GenerateContentRequest, clean: Clean): PromptReading {
  const messages = request.contents.filter((content) => content.role !== "model");
  return { ...readTask(kindWithoutTask(request), ""), question: clean(lastText(messages)) };
}

export function readPrompt(request: GenerateContentRequest, options: ReadOptions): PromptReading {
  const clean: Clean = (text) => (options.unescapeAt ? text.replaceAll("\\@", "@") : text);
  const reading = readConversation(request, clean) ?? readWithoutTask(request, clean);
  const { responseSchema, responseJsonSchema } = request.generationConfig;
  // The CLI's router sends the user's prompt with a schema, for another task.
  const schema = responseJsonSchema ?? responseSchema;
  return schema === undefined ? reading : { ...reading, kind: "json_schema" };
}
