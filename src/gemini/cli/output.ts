/** Parses the Gemini CLI's stdout incrementally: event lines, or plain text. */

import { z } from "zod";
import { describeToolCall } from "./tools.ts";
import { parseJson } from "../parse-json.ts";
import { readModelName, readTokenCount } from "../token-count.ts";

export interface CliOutput {
  format: "events" | "plain";
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
  /** The model that wrote the answer: the one with the most output. */
  model: string | undefined;
}

interface OutputReader {
  push(text: string): void;
  finish(): CliOutput;
}

const eventLine = z.object({
  type: z.enum(["init", "message", "tool_use", "tool_result", "error", "result"]),
  role: z.string().optional().catch(undefined),
  content: z.string().optional().catch(undefined),
  tool_name: z.string().optional().catch(undefined),
  parameters: z.unknown().optional(),
  message: z.string().optional().catch(undefined),
  model: z.string().optional().catch(undefined),
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
  let initModel = "";

  const appendText = (content: string): void => {
    // Text before and after a tool call belongs to separate paragraphs.
    if (newTurn && output.text !== "" && content !== "") output.text += "\n\n";
    newTurn = false;
    output.text += content;
  };

  const onEvent = (event: Event): void => {
    sawEvents = true;
    // `auto` and the like are not model names but ways to choose a model.
    if (event.type === "init" && event.model?.startsWith("auto") === false) initModel = event.model;
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
      return sawEvents ? { format: "events", ...output, errors, stats } : readPlain(plain);
    },
  };
}

/** An answer that was paid for counts even if the CLI printed no events. */
function readPlain(printed: string): CliOutput {
  const text = printed.replace(/^Loaded cached credentials\.\n/, "").trim();
  return { format: "plain", text, finished: false, succeeded: undefined, errors: [], stats: undefined };
}

/** A missing count is none, too: `z.unknown()` alone would reject the whole entry. */
const count = z
  .unknown()
  .optional()
  .transform((value) => readTokenCount(value) ?? 0);

const tokenCounts = z.object({ input_tokens: count, output_tokens: count, cached: count, total_tokens: count });
type TokenCounts = z.infer<typeof tokenCounts>;
const NONE: TokenCounts = { input_tokens: 0, output_tokens: 0, cached: 0, total_tokens: 0 };
const statistics = tokenCounts.extend({ models: z.record(z.string(), tokenCounts.catch(NONE)).optional() });

/** Versions up to 0.33 print totals without models; then the model is the one of the `init` event. */
function readStats(value: unknown, initModel: string): CliStats | undefined {
  const stats = statistics.safeParse(value).data;
  if (stats === undefined) return undefined;
  const models = Object.entries(stats.models ?? { [initModel]: stats });
  const sum = (part: keyof TokenCounts): number => models.reduce((total, [, tokens]) => total + tokens[part], 0);
  const [main] = models.toSorted(([, a], [, b]) => b.output_tokens - a.output_tokens);
  const counts = { input: sum("input_tokens"), output: sum("output_tokens"), total: sum("total_tokens") };
  return {
    ...counts,
    cached: sum("cached"),
    idle: counts.input + counts.output + counts.total === 0,
    model: readModelName(main?.[0]),
  };
}
