/** Reads a run's stored estimate of cost and duration. */

import { z } from "zod";
import { COMPLEXITIES, type Complexity } from "../../costs/complexity.ts";
import { storedJson } from "../stored-json.ts";
import { typicalMinutes } from "../progress.ts";
import type { Run } from "../run.ts";
import type { UsualMinutes } from "../activity/time-left.ts";

const figure = z.number().optional().catch(undefined);
const range = z.object({ min: figure, likely: figure, max: figure }).optional().catch(undefined);
const stored = z.object({ usd: range, minutes: range }).catch({});

export type RunEstimate = z.infer<typeof stored>;

/** The class of effort that the estimate was made for. */
export function complexityIn(estimateJson: string | null): Complexity | undefined {
  const { complexity } = storedJson(estimateJson ?? "{}", z.object({ complexity: z.enum(COMPLEXITIES).optional() }));
  return complexity;
}

export const estimateOf = (estimate: unknown): RunEstimate => stored.parse(estimate);

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
