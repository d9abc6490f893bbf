/**
 * Estimates duration and cost: of a deep research run from published ranges and the user's own runs, and of a follow-up
 * from the length of its context.
 */

import { currentAgent } from "../gemini/research-agent.ts";
import type { Usage } from "../gemini/search-backend.ts";
import { countOf } from "../platform/count.ts";
import { costCalculator } from "./actual.ts";
import { type Complexity, complexityOf, complexityOfPlan } from "./complexity.ts";
import { priceNotices } from "./price-notices.ts";
import { type Bounds, predict, type Range, rounded } from "./prediction.ts";
import { type AgentPrice, agentPrice, familyAgentPrice, type PriceTable } from "./prices.ts";

/** A finished agent run from the history. */
export interface FinishedRun {
  complexity: Complexity;
  model: string;
  durationMs: number;
  /** Undefined if Google has not reported usage yet, or if no price is known. */
  costUsd: number | undefined;
  /** As Google counted them. */
  searches: number;
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
  /** There is no price of the agent, and the highest of its family is assumed. */
  isFamilyPrice: boolean;
  /** US dollars per million input tokens. */
  inputUsd: number;
  /** What a run costs per search at least, with all that it reads and writes; undefined for a plan. */
  minUsdPerSearch?: number | undefined;
}

/** Undefined for an agent without a price of its own or of its family. */
export function estimate(request: EstimateRequest): Estimate | undefined {
  const { query, plan, agent, prices, history, syncWindowMs, now } = request;
  const listed = agentPrice(prices, agent, now);
  const price = listed ?? familyAgentPrice(prices, agent, now);
  if (price === undefined) return undefined;
  const priced = { pricesAsOf: prices.asOf, isFamilyPrice: listed === undefined, inputUsd: price.input };
  if (plan === "wanted") return { ...planEstimate(request), ...priced };
  // A plan shows the effort better than the question from which it was made.
  const complexity = plan === undefined ? complexityOf(query) : complexityOfPlan(plan.text);
  const runs = history.filter(
    (run) => currentAgent(run.model).agent === currentAgent(agent).agent && isInformative(run),
  );
  const minutes = rounded(predictMinutes(price, runs, complexity));
  const usd = rounded(predictUsd(price, runs, complexity));
  const goAsync = minutes.likely * 60_000 > syncWindowMs;
  return {
    agent,
    complexity,
    minutes,
    usd,
    goAsync,
    recommendation: [
      ADVICE[complexity],
      delivery({ complexity, goAsync, minutes }),
      basis(runs),
      ...(listed === undefined ? [`There is no price of ${agent}: the highest of its family is assumed.`] : []),
      ...priceNotices(prices, { models: [agent], now }).map(({ message }) => message),
    ].join(" "),
    basedOnRuns: runs.length,
    ...priced,
    minUsdPerSearch: minUsdPerSearch(prices, runs),
  };
}

/**
 * Derived, as Google documents no figures for plans: a plan reads the question, searches a little and writes a page. The
 * usage of the user's own runs is no basis for it.
 */
const PLAN_USAGE: Usage = { input: 25_000, output: 4_000, cached: 0, searches: 1 };
const PLAN_MINUTES: Range = { min: 0.3, likely: 1, max: 5 };
const PLAN_USD_SPREAD = { min: 0.3, max: 3 };

function planEstimate({ query, agent, prices, syncWindowMs, now }: EstimateRequest) {
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

/** Documented: most tasks end within 20 minutes, all within 60. Recorded: 54 took 3 to 18 minutes, half of them 5. */
const TASK_MINUTES = { min: 3, max: 20 };

/** Derived: what a run of a class takes and costs relative to the published figures of a task, which name no classes. */
const CLASS_FACTOR: Record<Complexity, number> = { simple: 0.75, medium: 1, complex: 1.33 };

function predictMinutes(price: AgentPrice, runs: FinishedRun[], complexity: Complexity): Range {
  const durations = runs.flatMap((run) =>
    hasDuration(run) ? [run.durationMs / 60_000 / price.durationFactor / CLASS_FACTOR[run.complexity]] : [],
  );
  const { min, likely, max } = scaled(
    predict(TASK_MINUTES, durations),
    price.durationFactor * CLASS_FACTOR[complexity],
  );
  return { min: Math.min(MAX_MINUTES, min), likely: Math.min(MAX_MINUTES, likely), max: Math.min(MAX_MINUTES, max) };
}

function predictUsd({ taskUsd }: AgentPrice, runs: FinishedRun[], complexity: Complexity): Range {
  // The user's price file may say that a task costs nothing, which has no logarithm.
  if (taskUsd.max === 0) return { min: 0, likely: 0, max: 0 };
  const costs = runs.flatMap(({ costUsd = 0, complexity: ofRun }) =>
    costUsd > 0 ? [costUsd / CLASS_FACTOR[ofRun]] : [],
  );
  return scaled(predict(positive(taskUsd), costs), CLASS_FACTOR[complexity]);
}

const positive = ({ min, max }: AgentPrice["taskUsd"]): Bounds => ({ min: Math.max(min, max / 10), max });

/** Of so many runs one in six costs less per search than all before it. */
const MIN_RUNS_PER_SEARCH = 5;

/**
 * The searches of a run say more about its cost than its question does: fifteen recorded runs cost $0.71 to $1.61, and
 * $0.053 to $0.067 per search, with all that they read and wrote. Without enough runs of the user only the searches count.
 */
function minUsdPerSearch({ searchQueryUsd }: PriceTable, runs: FinishedRun[]): number {
  const own = runs.flatMap(({ costUsd = 0, searches }) => (costUsd > 0 && searches > 0 ? [costUsd / searches] : []));
  return own.length < MIN_RUNS_PER_SEARCH ? searchQueryUsd : Math.min(...own);
}

const scaled = ({ min, likely, max }: Range, factor: number): Range => ({
  min: min * factor,
  likely: likely * factor,
  max: max * factor,
});

const hasDuration = ({ durationMs }: FinishedRun): boolean => durationMs > 0 && durationMs <= MAX_MINUTES * 60_000;

const isInformative = (run: FinishedRun): boolean => hasDuration(run) || (run.costUsd ?? 0) > 0;

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

const basis = ({ length: runs }: FinishedRun[]): string =>
  runs === 0
    ? "Based on Google's figures; you have no finished runs yet."
    : `Four in five runs are expected within these ranges, by Google's figures and ${countOf(runs, "finished run")} of your own.`;

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
