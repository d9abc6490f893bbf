/** Parses the Gemini CLI's stdout incrementally: event lines, or one JSON object or plain text from other versions. */

import { z } from "zod";
import { describeToolCall } from "./tools.ts";
import { parseJson } from "../parse-json.ts";
import { readModelName, readTokenCount } from "../token-count.ts";

export interface CliOutput {
  format: "events" | "object" | "plain";
  text: string;
  /** The CLI printed its result event, so the text is complete. */
  finished: boolean;
  /** The outcome reported by the CLI; undefined without a report. */
  succeeded: boolean | undefined;
  /** Upstream error texts: used to classify a failure, never shown. */
  errors: readonly string[];
  stats: CliStats | undefined;
}

interface CliStats {
  input: number;
  output: number;
  cached: number;
  /** Input, output, thoughts and tool use together. */
  total: number;
  /** No model was called at all. */
  idle: boolean;
  /** The model that wrote the answer: the one with the main role, else the one with the most output. */
  model: string | undefined;
}

interface OutputReader {
  push(text: string): void;
  finish(): CliOutput;
}

const eventLine = z.object({
  type: z.enum(["init", "message", "tool_use", "tool_result", "error", "result"]),
  role: z.string().optional().catch(undefined),
  model: z.string().optional().catch(undefined),
  content: z.string().optional().catch(undefined),
  tool_name: z.string().optional().catch(undefined),
  parameters: z.unknown().optional(),
  message: z.string().optional().catch(undefined),
  status: z.string().optional().catch(undefined),
  error: z.object({ message: z.string() }).optional().catch(undefined),
  stats: z.unknown().optional(),
});

type Event = z.infer<typeof eventLine>;

interface ReaderHooks {
  onActivity: (activity: string) => void;
  /** Called after the CLI's result event; the process only has to exit. */
  onFinished: () => void;
}

export function createOutputReader(hooks: ReaderHooks): OutputReader {
  let pending = "";
  let plain = "";
  let sawEvents = false;
  let newTurn = false;
  const output = { text: "", finished: false, succeeded: undefined as boolean | undefined };
  const errors: string[] = [];
  let stats: CliStats | undefined;
  let initModel: string | undefined;

  const appendText = (content: string): void => {
    // Text before and after a tool call belongs to separate paragraphs.
    if (newTurn && output.text !== "" && content !== "") output.text += "\n\n";
    newTurn = false;
    output.text += content;
  };

  const onEvent = (event: Event): void => {
    sawEvents = true;
    // `auto` and the like are not model names but ways to choose a model.
    if (event.type === "init" && event.model?.startsWith("auto") === false) initModel = readModelName(event.model);
    if (event.type === "message" && event.role === "assistant") appendText(event.content ?? "");
    if (event.type === "tool_use") {
      newTurn = true;
      const activity = describeToolCall(event.tool_name ?? "", event.parameters);
      if (activity !== undefined) hooks.onActivity(activity);
    }
    if (event.type === "error" && event.message !== undefined) errors.push(event.message);
    if (event.type === "result") {
      output.finished = true;
      output.succeeded = event.status !== "error";
      if (event.error !== undefined) errors.push(event.error.message);
      stats = readStats(event.stats, initModel);
      hooks.onFinished();
    }
  };

  const onLine = (line: string): void => {
    // This check is far cheaper than parsing, and most lines of a hostile output are not events.
    const parsed = line.startsWith("{") && line.includes('"type"') ? parseJson(line) : undefined;
    const event = parsed === undefined ? undefined : eventLine.safeParse(parsed).data;
    if (event === undefined) plain += `${line}\n`;
    else onEvent(event);
  };

  return {
    push: (text) => {
      const lines = text.split("\n");
      const first = lines.shift() ?? "";
      const last = lines.pop();
      pending += first;
      if (last === undefined) return;
      onLine(pending);
      for (const line of lines) onLine(line);
      pending = last;
    },
    finish: () => {
      if (pending !== "") onLine(pending);
      pending = "";
      return sawEvents ? { format: "events", ...output, errors, stats } : readWhole(plain);
    },
  };
}

const wholeAnswer = z.object({
  response: z.string().optional(),
  stats: z.unknown().optional(),
  error: z.object({ message: z.string().catch("") }).optional(),
});

/** `--output-format json` prints one object, in older versions after a notice; anything else is plain text. */
function readWhole(printed: string): CliOutput {
  const start = printed.search(/^\{/m);
  const object = start < 0 ? undefined : parseJson(printed.slice(start, printed.lastIndexOf("}") + 1));
  const answer = wholeAnswer.safeParse(object).data;
  if (answer !== undefined && (answer.response !== undefined || answer.error !== undefined)) {
    return {
      format: "object",
      text: answer.response ?? "",
      finished: true,
      succeeded: answer.error === undefined,
      errors: answer.error === undefined ? [] : [answer.error.message],
      stats: readStats(answer.stats),
    };
  }
  const text = printed.replace(/^Loaded cached credentials\.\n/, "").trim();
  return { format: "plain", text, finished: false, succeeded: undefined, errors: [], stats: undefined };
}

const count = z.unknown().transform((value) => readTokenCount(value) ?? 0);
/** Missing before google-gemini/gemini-cli 15021 (2025-12-15), about version 0.21. */
const cachedCount = z
  .unknown()
  .optional()
  .transform((value) => readTokenCount(value) ?? 0);

/** The two output formats use different names for the same counts. */
const eventTokens = z.object({ input_tokens: count, output_tokens: count, cached: cachedCount, total_tokens: count });
const wholeTokens = z.object({ prompt: count, candidates: count, cached: cachedCount, total: count });
const modelStats = z.object({ tokens: wholeTokens.optional(), roles: z.record(z.string(), z.unknown()).optional() });

interface Tokens {
  input: number;
  output: number;
  cached: number;
  total: number;
}

/** Versions 0.11 to 0.33 print totals only; the model comes from the `init` event. */
function readFlatStats(value: unknown, initModel: string | undefined): CliStats | undefined {
  const flat = eventTokens.safeParse(value).data;
  if (flat === undefined) return undefined;
  const { input_tokens: input, output_tokens: output, cached, total_tokens: total } = flat;
  return { input, output, cached, total, idle: total === 0 && input + output === 0, model: initModel };
}

function readStats(value: unknown, initModel?: string): CliStats | undefined {
  const models = z.object({ models: z.record(z.string(), z.unknown()) }).safeParse(value).data?.models;
  if (models === undefined) return readFlatStats(value, initModel);
  const counted = Object.entries(models).map(([name, entry]) => readModel(name, entry));
  const sum = (part: keyof Tokens): number => counted.reduce((total, { tokens }) => total + tokens[part], 0);
  const byOutput = counted.toSorted((a, b) => b.tokens.output - a.tokens.output);
  const main = byOutput.find(({ isMain }) => isMain) ?? byOutput[0];
  return {
    input: sum("input"),
    output: sum("output"),
    cached: sum("cached"),
    total: sum("total"),
    idle: counted.length === 0,
    model: readModelName(main?.name),
  };
}

function readModel(name: string, entry: unknown): { name: string; tokens: Tokens; isMain: boolean } {
  const whole = modelStats.safeParse(entry).data;
  if (whole?.tokens !== undefined) {
    const { prompt, candidates, cached, total } = whole.tokens;
    return {
      name,
      tokens: { input: prompt, output: candidates, cached, total },
      isMain: whole.roles?.["main"] !== undefined,
    };
  }
  const flat = eventTokens.safeParse(entry).data;
  return {
    name,
    tokens: {
      input: flat?.input_tokens ?? 0,
      output: flat?.output_tokens ?? 0,
      cached: flat?.cached ?? 0,
      total: flat?.total_tokens ?? 0,
    },
    isMain: false,
  };
}
