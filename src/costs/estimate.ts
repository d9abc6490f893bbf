/**
 * Estimates duration and cost: of a deep research run from published figures, adjusted to the user's own runs, and of a
 * follow-up from the length of its context.
 */

import { currentAgent } from "../gemini/research-agent.ts";
import type { Usage } from "../gemini/search-backend.ts";
import { countOf } from "../platform/count.ts";
import { costCalculator } from "./actual.ts";
import { type Complexity, complexityOf, complexityOfPlan } from "./complexity.ts";
import { type AgentPrice, agentPrice, type PriceTable } from "./prices.ts";

/** A finished agent run from the history. */
export interface FinishedRun {
  complexity: Complexity;
  model: string;
  durationMs: number;
  /** Undefined if Google has not reported usage yet, or if no price is known. */
  costUsd: number | undefined;
}

/** `wanted`: the cost of a plan that is to be written; `text`: that of the research which a plan describes. */
export type PlanStage = "wanted" | { text: string };

interface EstimateRequest {
  query: string;
  plan?: PlanStage | undefined;
  agent: string;
  prices: PriceTable;
  history: readonly FinishedRun[];
  /** How long a start waits for the result before the run continues in the background. */
  syncWindowMs: number;
  now: number;
}

export interface Estimate {
  agent: string;
  complexity: Complexity;
  minutes: Range;
  usd: Range;
  goAsync: boolean;
  recommendation: string;
  /** Number of the user's finished runs with this agent that were used. */
  basedOnRuns: number;
  pricesAsOf: string;
  /** US dollars per million input tokens. */
  inputUsd: number;
}

/** Undefined for an agent without a price. */
export function estimate(request: EstimateRequest): Estimate | undefined {
  const { query, plan, agent, prices, history, syncWindowMs, now } = request;
  const price = agentPrice(prices, agent, now);
  if (price === undefined) return undefined;
  if (plan === "wanted") return planEstimate(request, price.input);
  // A plan shows the effort better than the question from which it was made.
  const complexity = plan === undefined ? complexityOf(query) : complexityOfPlan(plan.text);
  const runs = history.filter(
    (run) => currentAgent(run.model).agent === currentAgent(agent).agent && isInformative(run),
  );
  const minutes = rounded(calibrate(documentedMinutes(price.durationFactor), durations(runs))[complexity]);
  const usd = rounded(calibrate(documentedUsd(price, { prices, agent, now }), costs(runs))[complexity]);
  const goAsync = minutes.likely * 60_000 > syncWindowMs;
  return {
    agent,
    complexity,
    minutes,
    usd,
    goAsync,
    recommendation: [ADVICE[complexity], delivery({ complexity, goAsync, minutes }), basis(runs, complexity)].join(" "),
    basedOnRuns: runs.length,
    pricesAsOf: prices.asOf,
    inputUsd: price.input,
  };
}

/**
 * Derived, as Google documents no figures for plans: a plan reads the question, searches a little and writes a page. The
 * usage of the user's own runs is no basis for it.
 */
const PLAN_USAGE: Usage = { input: 25_000, output: 4_000, cached: 0, searches: 1 };
const PLAN_MINUTES: Range = { min: 0.3, likely: 1, max: 5 };
const PLAN_USD_SPREAD = { min: 0.3, max: 3 };

function planEstimate({ query, agent, prices, syncWindowMs, now }: EstimateRequest, inputUsd: number): Estimate {
  const usd = costCalculator(prices)(PLAN_USAGE, agent, now).usd ?? 0;
  const goAsync = PLAN_MINUTES.likely * 60_000 > syncWindowMs;
  const complexity = complexityOf(query);
  return {
    agent,
    complexity,
    minutes: PLAN_MINUTES,
    usd: rounded({ min: usd * PLAN_USD_SPREAD.min, likely: usd, max: usd * PLAN_USD_SPREAD.max }),
    goAsync,
    recommendation: "A plan costs cents; the research that it describes is charged when it is approved.",
    basedOnRuns: 0,
    pricesAsOf: prices.asOf,
    inputUsd,
  };
}

/**
 * How often the material of a start is charged at the full input price. Derived: the agent reads it again with about ten
 * steps; recorded runs cached hardly any of their input, but no recorded run had material.
 */
const MATERIAL_READS: Range = { min: 1, likely: 5, max: 10 };

/** Adds the cost of what is sent besides the question. */
export function withMaterial(found: Estimate, tokens: number): Estimate {
  if (tokens === 0) return found;
  const cost = (reads: number): number => (reads * tokens * found.inputUsd) / 1_000_000;
  const { min, likely, max } = found.usd;
  const usd = {
    min: min + cost(MATERIAL_READS.min),
    likely: likely + cost(MATERIAL_READS.likely),
    max: max + cost(MATERIAL_READS.max),
  };
  return { ...found, usd: rounded(usd) };
}

/** Documented maximum. Longer runs were collected late and are not used. */
const MAX_MINUTES = 60;

/**
 * Documented: most tasks end within 20 minutes, all within 60. Derived: the values per class, and the minimum, from a
 * recorded task of four minutes.
 */
function documentedMinutes(durationFactor: number): Ranges {
  const range = (min: number, likely: number, max: number): Range => ({
    min: Math.min(MAX_MINUTES, min * durationFactor),
    likely: Math.min(MAX_MINUTES, likely * durationFactor),
    max: Math.min(MAX_MINUTES, max * durationFactor),
  });
  return { simple: range(3, 6, 15), medium: range(4, 10, 20), complex: range(8, 20, 60) };
}

/**
 * Published: the range per task and the usage of a typical task. Derived: the cost of a typical task, which is the
 * likely cost of the medium class; the other classes are half-way to the ends of the range.
 */
function documentedUsd(price: AgentPrice, { prices, agent, now }: { prices: PriceTable; agent: string; now: number }) {
  const { min, max } = price.taskUsd;
  const known = price.typical === undefined ? undefined : costCalculator(prices)(price.typical, agent, now).usd;
  const typical = Math.min(max, Math.max(min, known ?? (min + max) / 2));
  const low = (min + typical) / 2;
  const high = (typical + max) / 2;
  return {
    simple: { min, likely: low, max: typical },
    medium: { min, likely: typical, max: high },
    complex: { min: low, likely: high, max },
  };
}

const durations = (runs: FinishedRun[]): Observation[] =>
  runs.flatMap(({ complexity, durationMs }) => {
    const value = durationMs / 60_000;
    return value > 0 && value <= MAX_MINUTES ? [{ complexity, value }] : [];
  });

const costs = (runs: FinishedRun[]): Observation[] =>
  runs.flatMap(({ complexity, costUsd = 0 }) => (costUsd > 0 ? [{ complexity, value: costUsd }] : []));

const isInformative = (run: FinishedRun): boolean => durations([run]).length + costs([run]).length > 0;

/** More digits would suggest false precision. */
const rounded = ({ min, likely, max }: Range): Range => ({
  min: Number(min.toPrecision(3)),
  likely: Number(likely.toPrecision(3)),
  max: Number(max.toPrecision(3)),
});

const ADVICE: Record<Complexity, string> = {
  simple:
    "Simple query: a search answers it in seconds for about a cent, and a deep search checks the answer in minutes; deep research is worth its price only where thoroughness matters.",
  medium: "Medium query: suited to deep research; a deep search covers most of it for a few cents.",
  complex: "Complex query: expect the upper part of the range; a narrower question would take less.",
};

function delivery({ complexity, goAsync, minutes }: Pick<Estimate, "complexity" | "goAsync" | "minutes">): string {
  if (!goAsync) return "It will likely be answered within the call.";
  const certainty = complexity === "simple" ? "very likely" : "almost certainly";
  return `It will ${certainty} run in the background (about ${minutesText(minutes.likely)}): start it, then follow its status.`;
}

/** A fraction of a minute would suggest a precision that no estimate has. */
export const wholeMinutes = (minutes: number): number => Math.max(1, Math.round(minutes));

export const minutesText = (minutes: number): string => countOf(wholeMinutes(minutes), "minute");

function basis(runs: FinishedRun[], complexity: Complexity): string {
  if (runs.length === 0) return "Based on published figures; you have no finished runs yet.";
  const sameClass = runs.filter((run) => run.complexity === complexity).length;
  return `Based on published figures, adjusted by ${runs.length} of your own finished runs (${sameClass} of this class).`;
}

interface Range {
  min: number;
  likely: number;
  max: number;
}

type Ranges = Record<Complexity, Range>;

interface Observation {
  complexity: Complexity;
  value: number;
}

/**
 * Moves the documented ranges to what the user's own runs took, relative to the documentation of their class, the further
 * the more runs there are. As all classes move alike, simple ≤ medium ≤ complex and min ≤ likely ≤ max stay true.
 */
function calibrate(documented: Ranges, observations: readonly Observation[]): Ranges {
  const ratios = observations.map(({ complexity, value }) => value / documented[complexity].likely);
  const weight = trust(ratios.length);
  const moved = ({ min, likely, max }: Range): Range => ({
    min: min + weight * (likely * quantile(ratios, 0.1) - min),
    likely: likely + weight * (likely * quantile(ratios, 0.5) - likely),
    max: max + weight * (likely * quantile(ratios, 0.9) - max),
  });
  return { simple: moved(documented.simple), medium: moved(documented.medium), complex: moved(documented.complex) };
}

/** One run is chance (a task may search 17 or 160 times), two weigh as much as the documentation, ten decide. */
const trust = (runs: number): number => runs ** 3 / (runs ** 3 + 8);

/** 0 without values. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = share * (sorted.length - 1);
  const below = sorted[Math.floor(position)] ?? 0;
  const above = sorted[Math.ceil(position)] ?? below;
  return below + (above - below) * (position - Math.floor(position));
}

export interface FollowupEstimate {
  agent: string;
  minutes: Range;
  usd: Range;
}

/** Documented: a token is about four characters of English. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Derived: what a model writes and thinks, and how often it searches, for one question about a report. Pages that it
 * finds count as input. At Google an interaction holds more than its report, which the factor on the context allows for.
 */
const USE = {
  text: {
    min: { context: 1, pages: 0, output: 500, searches: 0 },
    likely: { context: 1.5, pages: 5_000, output: 3_000, searches: 2 },
    max: { context: 4, pages: 40_000, output: 12_000, searches: 10 },
  },
  /** Made of the stored report alone: nothing is searched, and a long table is long as JSON. */
  table: {
    min: { context: 1, pages: 0, output: 500, searches: 0 },
    likely: { context: 1, pages: 0, output: 5_000, searches: 0 },
    max: { context: 1.2, pages: 0, output: 30_000, searches: 0 },
  },
};

export type FollowupAnswer = keyof typeof USE;

/** Derived: from seconds without a search to some minutes with many. */
const MINUTES: Range = { min: 0.2, likely: 1, max: 5 };

/** Undefined for a model without a price. */
export function estimateFollowup({
  characters,
  answer = "text",
  model,
  prices,
  now,
}: {
  characters: number;
  answer?: FollowupAnswer | undefined;
  model: string;
  prices: PriceTable;
  now: number;
}): FollowupEstimate | undefined {
  const costOf = costCalculator(prices);
  const tokens = characters / CHARACTERS_PER_TOKEN;
  const figures = Object.values(USE[answer]).map(({ context, pages, output, searches }) => {
    const usage = { input: Math.ceil(tokens * context + pages), cached: 0, output, searches };
    const { usd, incomplete } = costOf(usage, model, now);
    return incomplete || usd === undefined ? undefined : Number(usd.toPrecision(2));
  });
  const [min, likely, max] = figures;
  if (min === undefined || likely === undefined || max === undefined) return undefined;
  return { agent: model, minutes: MINUTES, usd: { min, likely, max } };
}
