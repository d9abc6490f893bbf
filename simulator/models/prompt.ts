/** Reads a prompt the way a model would: which task it sets, about what, and in which form to answer. */

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
  round: number | undefined;
  /** The form that the prompt shows, as JSON text. */
  example: string | undefined;
  /** What a verification is to check. */
  currentResult: string | undefined;
  /** What a correction is to bring into form. */
  invalidOutput: string | undefined;
  /** What the model's function calls for this task have brought so far. */
  toolResults: ToolResult[];
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

/** The closing line must carry the same fence, because the text itself may imitate a closing line. */
function marked(text: string, label: string): string | undefined {
  const block = new RegExp(`^-----BEGIN (?:${label})(.*)-----\\n([\\s\\S]*?)\\n-----END (?:${label})\\1-----$`, "m");
  return block.exec(text)?.[2];
}

/** The last fence: a text that is to be corrected comes before it and may hold fences of its own. */
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

function readTask(kind: TaskKind, text: string): PromptReading {
  return {
    kind,
    question: marked(text, "QUESTION|TOPIC") ?? "",
    round: roundOf(kind, text),
    example: exampleIn(text),
    currentResult: marked(text, "CURRENT RESULT"),
    invalidOutput: marked(text, "INVALID OUTPUT"),
    toolResults: [],
  };
}

/** The Gemini CLI puts what it knows of the machine before what the user wrote. */
function lastText(messages: RequestContent[]): string {
  const texts = messages.flatMap((one) => one.parts.flatMap(({ text }) => text ?? []));
  return (texts.at(-1) ?? "").trim();
}

function kindWithoutTask(request: GenerateContentRequest): TaskKind {
  const tools = toolNames(request);
  if (tools.includes("googleSearch")) return "web_search";
  return tools.includes("urlContext") ? "web_fetch" : "other";
}

type Clean = (text: string) => string;

interface ReadOptions {
  /** The Gemini CLI reads `@path` as a file, so that `\@` stands for a plain `@`. */
  unescapeAt: boolean;
}

/** The last task counts, and all that came after it: a CLI may add a nudge of its own, such as "Please continue." */
function readConversation({ contents }: GenerateContentRequest, clean: Clean): PromptReading | undefined {
  const index = contents.findLastIndex((one) => one.role !== "model" && taskIn(textOf(one)) !== undefined);
  const task = contents[index];
  const text = task === undefined ? "" : clean(textOf(task));
  const kind = taskIn(text);
  if (kind === undefined) return undefined;
  return { ...readTask(kind, text), toolResults: toolResultsIn(contents.slice(index + 1)) };
}

function readWithoutTask(request: GenerateContentRequest, clean: Clean): PromptReading {
  const messages = request.contents.filter((one) => one.role !== "model");
  return { ...readTask(kindWithoutTask(request), ""), question: clean(lastText(messages)) };
}

export function readPrompt(request: GenerateContentRequest, options: ReadOptions): PromptReading {
  const clean: Clean = (text) => (options.unescapeAt ? text.replaceAll("\\@", "@") : text);
  const reading = readConversation(request, clean) ?? readWithoutTask(request, clean);
  const { responseSchema, responseJsonSchema } = request.generationConfig;
  // The CLI's router shows the user's prompt to a model that is to do something else with it.
  const schema = responseJsonSchema ?? responseSchema;
  return schema === undefined ? reading : { ...reading, kind: "json_schema" };
}
