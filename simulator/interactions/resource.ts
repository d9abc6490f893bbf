/** An interaction as a look at a given moment of its life finds it. */

import type { ReportContent } from "./report.ts";
import type { Run } from "./runs.ts";
import { diceFor, scriptOf } from "./script.ts";
import { errorsOf, outputSteps, researchSteps, textLength, type End, type Step } from "./steps.ts";

export type Json = Record<string, unknown>;

const WORKING = ["queued", "in_progress"];

const CHARACTERS_PER_TOKEN = 4;

/** How it ends if nobody cancels it. */
export function naturalEnd({ life }: Run): End | undefined {
  return WORKING.includes(life.status) ? undefined : { at: life.duration_ms, status: life.status };
}

/** When and how it ends, as far as that is settled; a report that is finished before a cancel takes effect is kept. */
export function endOf(run: Run): End | undefined {
  const natural = naturalEnd(run);
  if (run.cancelledAt === undefined || run.life.cancel_ignored) return natural;
  const cancelled = { at: run.cancelledAt + run.life.cancel_lag_ms, status: "cancelled" };
  return natural !== undefined && natural.at <= cancelled.at ? natural : cancelled;
}

/** The word while it works. */
export const workingStatus = ({ life }: Run): string => (WORKING.includes(life.status) ? life.status : "in_progress");

export function statusAt(run: Run, elapsed: number): string {
  const end = endOf(run);
  return end !== undefined && elapsed >= end.at ? end.status : workingStatus(run);
}

function searchesUntil({ start }: Run, share: number): number {
  const beats = scriptOf(start).beats.filter((beat) => beat.at <= share);
  return beats.reduce((sum, beat) => sum + (beat.kind === "search" ? beat.queries.length : 0), 0);
}

/** In the proportions of a real record, where nothing was cached. */
function usageOf(run: Run, end: End, output: readonly Step[]): Json {
  const { start, life } = run;
  const dice = diceFor(`usage ${start.agent} ${start.query}`);
  const done = life.duration_ms === 0 ? 1 : Math.min(1, end.at / life.duration_ms);
  const scale = done * (start.agent.includes("max") ? 3 : 1);
  const input = Math.round((150_000 + dice(150_000)) * scale);
  const written = Math.ceil(textLength(output) / CHARACTERS_PER_TOKEN);
  const thought = Math.round((8_000 + dice(12_000)) * scale);
  const toolUse = Math.round((30_000 + dice(50_000)) * scale);
  const text = (tokens: number): Json[] => [{ modality: "text", tokens }];
  return {
    total_tokens: input + written + thought + toolUse,
    total_input_tokens: input,
    input_tokens_by_modality: text(input),
    total_cached_tokens: 0,
    total_output_tokens: written,
    output_tokens_by_modality: text(written),
    total_tool_use_tokens: toolUse,
    tool_use_tokens_by_modality: text(toolUse),
    total_thought_tokens: thought,
    grounding_tool_count: [{ type: "google_search", count: searchesUntil(run, done) }],
    ...life.usage,
  };
}

/** What every form of an interaction has. Google does not move `updated` while it works. */
export function headOf({ start }: Run, status: string): Json {
  const created = `${new Date(start.at).toISOString().slice(0, 19)}Z`;
  return { id: start.id, object: "interaction", status, created, updated: created, agent: start.agent };
}

/** Before June 2026 a citation named its `source`. */
function oldContent(one: ReportContent): Json {
  if (one.type !== "text") return { ...one };
  const { annotations = [], ...rest } = one;
  const citations = annotations.map(({ url, start_index, end_index }) => ({ start_index, end_index, source: url }));
  return { ...rest, ...(citations.length > 0 && { annotations: citations }) };
}

/** Before June 2026 there were no steps: the report stood beside thoughts and searches. */
const oldOutputs = (steps: readonly Step[]): object[] =>
  steps.flatMap((step): object[] => (step.type === "model_output" ? (step.content ?? []).map(oldContent) : [step]));

/** A poll of a run that works finds its head, or the question with it; a finished one begins with the question. */
function stepsAt(run: Run, elapsed: number): Step[] {
  const end = endOf(run);
  const hasEnded = end !== undefined && elapsed >= end.at;
  if (!hasEnded && run.life.looks !== "all") return [];
  const research = researchSteps(run, Math.min(elapsed, end?.at ?? Infinity)).map(({ step }) => step);
  return hasEnded ? [...research, ...outputSteps(run, end)] : research;
}

export function interactionAt(run: Run, elapsed: number, { withInput }: { withInput: boolean }): Json {
  const { start, life } = run;
  const end = endOf(run);
  const hasEnded = end !== undefined && elapsed >= end.at;
  const status = statusAt(run, elapsed);
  const steps = stepsAt(run, elapsed);
  const showsInput = withInput || hasEnded || life.looks !== "head";
  const input = showsInput ? [{ type: "user_input", content: [{ type: "text", text: start.query }] }] : [];
  const hasUsage = hasEnded && elapsed >= end.at + life.usage_after_ms;
  const shown = life.schema === "steps" ? { steps: [...input, ...steps] } : { outputs: oldOutputs(steps) };
  return {
    ...headOf(run, status),
    ...(Object.keys(start.labels).length > 0 && { labels: start.labels }),
    ...(status === "failed" && { errors: errorsOf(life) }),
    ...(hasEnded || showsInput ? shown : {}),
    ...(hasUsage && { usage: usageOf(run, end, steps) }),
  };
}
