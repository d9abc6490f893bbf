/** The interaction resource that a poll returns at a given time. */

import type { ReportContent } from "./report.ts";
import { isPlanning, topicOf, type Run } from "./runs.ts";
import { createRandom, type Random, scriptOf } from "./script.ts";
import { errorsOf, outputSteps, researchSteps, textLength, type End, type Step } from "./steps.ts";

export type Json = Record<string, unknown>;

const WORKING = ["queued", "in_progress"];

const CHARACTERS_PER_TOKEN = 4;

/** How it ends without a cancel. */
export function naturalEnd(run: Run): End | undefined {
  const { life } = run;
  return WORKING.includes(life.status) ? undefined : { at: durationOf(run), status: life.status };
}

/** A plan takes a fraction of the time of a research; how large is a guess. */
const PLAN_SHARE = 0.1;

const durationOf = (run: Run): number => run.life.duration_ms * (isPlanning(run) ? PLAN_SHARE : 1);

/** When and how it ends, as far as determined; a report that is finished before a cancel takes effect is kept. */
export function endOf(run: Run): End | undefined {
  const natural = naturalEnd(run);
  if (run.cancelledAt === undefined || run.life.cancel_ignored) return natural;
  const cancelled = { at: run.cancelledAt + run.life.cancel_lag_ms, status: "cancelled" };
  return natural !== undefined && natural.at <= cancelled.at ? natural : cancelled;
}

/** The status before the end. */
export const workingStatus = ({ life }: Run): string => (WORKING.includes(life.status) ? life.status : "in_progress");

export function statusAt(run: Run, elapsed: number): string {
  const end = endOf(run);
  return end !== undefined && elapsed >= end.at ? end.status : workingStatus(run);
}

function searchesUntil(run: Run, share: number): number {
  if (isPlanning(run) || run.offline === true) return 0;
  const activities = scriptOf(topicOf(run), run.life).activities.filter((activity) => activity.at <= share);
  return activities.reduce((sum, activity) => sum + (activity.kind === "search" ? activity.queries.length : 0), 0);
}

/** Token counts in the proportions of recordings: [least, spread] of each. */
const STANDARD_COUNTS = { input: [150_000, 150_000], thought: [8_000, 12_000], toolUse: [30_000, 50_000] } as const;
const MAX_COUNTS = { input: [505_000, 2_586_000], thought: [69_000, 46_000], toolUse: [218_000, 1_336_000] } as const;

function usageOf(run: Run, end: End, output: readonly Step[]): Json {
  const { start, life } = run;
  const random = createRandom(`usage ${start.agent} ${start.query}`);
  const done = life.duration_ms === 0 ? 1 : Math.min(1, end.at / durationOf(run));
  const scale = done * (isPlanning(run) ? PLAN_SHARE : 1);
  const isMax = start.agent.includes("max");
  const of = isMax ? MAX_COUNTS : STANDARD_COUNTS;
  const count = ([least, spread]: readonly [number, number]): number => Math.round((least + random(spread)) * scale);
  const input = count(of.input);
  const written = Math.ceil(textLength(output) / CHARACTERS_PER_TOKEN);
  const thought = count(of.thought);
  const toolUse = count(of.toolUse);
  // Of the recorded runs only one had cached input: the largest, of the Max agent, 24 %.
  const cached = isMax && random(3) === 0 ? Math.round(0.24 * input) : 0;
  const counts =
    start.model === undefined ? { input, cached, written, thought, toolUse } : modelCounts(start, written, random);
  const searches = searchesUntil(run, done);
  return { ...usageFields(counts, searches), ...life.usage };
}

interface TokenCounts {
  input: number;
  /** Part of the input. */
  cached?: number;
  written: number;
  thought: number;
  toolUse: number;
}

/** A model reads the conversation so far and a few pages. */
const modelCounts = ({ query, context = 0 }: Run["start"], written: number, random: Random): TokenCounts => ({
  input: Math.ceil((context + query.length) / CHARACTERS_PER_TOKEN),
  written,
  thought: 500 + random(1_000),
  toolUse: 1_000 + random(3_000),
});

function usageFields({ input, cached = 0, written, thought, toolUse }: TokenCounts, searches: number): Json {
  const text = (tokens: number): Json[] => [{ modality: "text", tokens }];
  return {
    total_tokens: input + written + thought + toolUse,
    total_input_tokens: input,
    input_tokens_by_modality: text(input),
    total_cached_tokens: cached,
    ...(cached > 0 && { cached_tokens_by_modality: text(cached) }),
    total_output_tokens: written,
    output_tokens_by_modality: text(written),
    total_tool_use_tokens: toolUse,
    tool_use_tokens_by_modality: text(toolUse),
    total_thought_tokens: thought,
    raw_prompt_token: input + toolUse,
    grounding_tool_count: [{ type: "google_search", count: searches }],
  };
}

/** The fields of every representation. Google does not change `updated` during a run. */
export function headOf({ start }: Run, status: string): Json {
  const created = `${new Date(start.at).toISOString().slice(0, 19)}Z`;
  const by = start.model === undefined ? { agent: start.agent } : { model: start.model };
  const previous = start.previous === undefined ? {} : { previous_interaction_id: start.previous };
  return { id: start.id, object: "interaction", status, created, updated: created, ...by, ...previous };
}

/** Before June 2026 a citation named its `source`. */
function oldContent(content: ReportContent): Json {
  if (content.type !== "text") return { ...content };
  const { annotations = [], ...rest } = content;
  const citations = annotations.map(({ url, start_index, end_index }) => ({ start_index, end_index, source: url }));
  return { ...rest, ...(citations.length > 0 && { annotations: citations }) };
}

/** Before June 2026 there were no steps: outputs contained report, thoughts and searches. */
const oldOutputs = (steps: readonly Step[]): object[] =>
  steps.flatMap((step): object[] => (step.type === "model_output" ? (step.content ?? []).map(oldContent) : [step]));

/** Depending on the scenario, a poll of an unfinished run shows no steps or all so far. */
function stepsAt(run: Run, elapsed: number): Step[] {
  const end = endOf(run);
  const hasEnded = end !== undefined && elapsed >= end.at;
  const { draft, poll_shows: shown } = run.life;
  if (!hasEnded && draft !== undefined) return [{ type: "model_output", content: [{ type: "text", text: draft }] }];
  if (!hasEnded && shown !== "all") return [];
  const research = researchSteps(run, Math.min(elapsed, end?.at ?? Infinity)).map(({ step }) => step);
  return hasEnded ? [...research, ...outputSteps(run, end)] : research;
}

export function interactionAt(run: Run, elapsed: number, { withInput }: { withInput: boolean }): Json {
  const { start, life } = run;
  const end = endOf(run);
  const hasEnded = end !== undefined && elapsed >= end.at;
  const status = statusAt(run, elapsed);
  const steps = stepsAt(run, elapsed);
  const showsInput = withInput || hasEnded || life.poll_shows !== "head" || life.draft !== undefined;
  const content = [{ type: "text", text: start.query }, ...(run.attached ?? [])];
  const input = showsInput ? [{ type: "user_input", content }] : [];
  const hasUsage = hasEnded && elapsed >= end.at + life.usage_after_ms;
  const shown = life.schema === "steps" ? { steps: [...input, ...steps] } : { outputs: oldOutputs(steps) };
  return {
    ...headOf(run, status),
    ...(Object.keys(start.labels).length > 0 && { labels: start.labels }),
    ...(status === "failed" && { errors: errorsOf(life) }),
    ...((hasEnded && life.steps !== "none") || (!hasEnded && showsInput) ? shown : {}),
    ...(hasUsage && { usage: usageOf(run, end, steps), service_tier: "standard" }),
  };
}
