/** Reads what the Gemini CLI prints, while it prints: event lines, or one JSON object or plain text from other versions. */

import { z } from "zod";
import { describeToolCall } from "./tools.ts";
import { readModelName, readTokenCount } from "../token-count.ts";

export interface CliOutput {
  format: "events" | "object" | "plain";
  text: string;
  /** The CLI said that it was done: nothing is missing from the text. */
  finished: boolean;
  /** The CLI's own word about the outcome; undefined when it said none. */
  succeeded: boolean | undefined;
  /** Upstream words: to sort a failure by, never to show. */
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
  /** The one that wrote the answer: by its role, else the one that wrote most. */
  model: string | undefined;
}

export interface OutputReader {
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

export interface ReaderHooks {
  onActivity: (activity: string) => void;
  /** The CLI has said its last word; it only has to leave. */
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

  const say = (content: string): void => {
    // What was said before and after a tool call are two paragraphs.
    if (newTurn && output.text !== "" && content !== "") output.text += "\n\n";
    newTurn = false;
    output.text += content;
  };

  const onEvent = (event: Event): void => {
    sawEvents = true;
    // `auto` and the like are no models but ways to choose one.
    if (event.type === "init" && event.model?.startsWith("auto") === false) initModel = readModelName(event.model);
    if (event.type === "message" && event.role === "assistant") say(event.content ?? "");
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
    // Trying costs far more than looking, and most lines of a hostile output are no events.
    const maybe = line.startsWith("{") && line.includes('"type"') ? parseJson(line) : undefined;
    const event = maybe === undefined ? undefined : eventLine.safeParse(maybe).data;
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

/** `--output-format json` prints one object, older versions a notice before it; the rest is plain text. */
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

/** The two output formats count the same under different names. */
const eventTokens = z.object({ input_tokens: count, output_tokens: count, cached: count, total_tokens: count });
const wholeTokens = z.object({ prompt: count, candidates: count, cached: count, total: count });
const modelStats = z.object({ tokens: wholeTokens.optional(), roles: z.record(z.string(), z.unknown()).optional() });

interface Tokens {
  input: number;
  output: number;
  cached: number;
  total: number;
}

/** Versions 0.11 to 0.33 print totals only; the model is the one that `init` named. */
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
