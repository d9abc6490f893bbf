/** Estimates the cost of a follow-up from the length of its context and the prices of the model that answers it. */

import { costCalculator } from "./actual.ts";
import type { Range } from "./calibrate.ts";
import type { PriceTable } from "./prices.ts";

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
