/** Estimates of a run: what was stored at its start, how long its kind usually takes, and its progress by what Google has shown. */

import { z } from "zod";
import { COMPLEXITIES, type Complexity } from "../../costs/complexity.ts";
import { atLeast, type Range, rounded } from "../../costs/prediction.ts";
import { storedJson } from "../run-row.ts";
import type { Run } from "../run.ts";
import type { UsualMinutes } from "../activity/time-left.ts";

const figure = z.number().optional().catch(undefined);
const range = z.object({ min: figure, likely: figure, max: figure }).optional().catch(undefined);
const stored = z.object({ usd: range, minutes: range, minUsdPerSearch: figure }).catch({});

export type RunEstimate = z.infer<typeof stored>;

/** The class of effort that the estimate was made for. */
export function complexityIn(estimateJson: string | null): Complexity | undefined {
  const { complexity } = storedJson(estimateJson ?? "{}", z.object({ complexity: z.enum(COMPLEXITIES).optional() }));
  return complexity;
}

export const estimateOf = (estimate: unknown): RunEstimate => stored.parse(estimate);

/** What the run is expected to cost: as estimated at its start, without what its searches and its cost so far rule out. */
export function expectedUsd({ estimate, cost }: Pick<Run, "estimate" | "cost">, searches: number): Range | undefined {
  const { usd: { min, likely, max } = {}, minUsdPerSearch = 0 } = estimateOf(estimate);
  if (min === undefined || likely === undefined || max === undefined) return undefined;
  const floor = Math.max(cost.usd ?? 0, searches * minUsdPerSearch);
  return floor === 0 ? { min, likely, max } : rounded(atLeast({ min, likely, max }, floor));
}

/** Searches have no estimate: these are the times that their descriptions name. */
const SEARCH_MINUTES: Record<Exclude<Run["kind"], "agent">, UsualMinutes> = {
  search: { likely: 1, max: 2 },
  deep_research: { likely: 1, max: 5 },
  deep_search: { likely: 4, max: 10 },
};

/** Without an upper bound in the estimate. */
const MAX_BY_LIKELY = 2;

export function usualMinutes({ kind, estimate, model }: Pick<Run, "kind" | "estimate" | "model">): UsualMinutes {
  if (kind !== "agent") return SEARCH_MINUTES[kind];
  const { minutes } = estimateOf(estimate);
  const likely = minutes?.likely ?? typicalMinutes(model ?? "");
  return { likely, max: Math.max(likely, minutes?.max ?? MAX_BY_LIKELY * likely) };
}

/** Estimates the progress of a background run from what Google has shown of its work: Google reports no percentage. */

/**
 * Searches and minutes of a typical task are from Google's documentation of the agents. The one stream of a standard
 * run that was recorded whole has 38 thoughts; those of a thorough run are derived from it.
 */
const TYPICAL = {
  standard: { searches: 80, thoughts: 38, minutes: 10 },
  max: { searches: 160, thoughts: 76, minutes: 20 },
  /** Derived: a model that answers a follow-up searches a few times. */
  model: { searches: 4, thoughts: 4, minutes: 1 },
};

function typicalOf(agent: string) {
  if (agent.startsWith("gemini-")) return TYPICAL.model;
  return agent.includes("-max-") ? TYPICAL.max : TYPICAL.standard;
}

/** 0 to 90. 0 means that nothing was seen yet: a run that is not watched usually stays there until its end. */
export function progressBySeen(agent: string, { searches, thoughts }: { searches: number; thoughts: number }): number {
  const typical = typicalOf(agent);
  const share = Math.min(1, Math.max(searches / typical.searches, thoughts / typical.thoughts));
  return share === 0 ? 0 : 5 + 85 * share;
}

const typicalMinutes = (agent: string): number => typicalOf(agent).minutes;
