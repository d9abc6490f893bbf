/** What a finished call cost, from the figures the backend reported. */

import type { Usage } from "../gemini/ask.ts";
import { priceOf, SEARCH_QUERY_USD } from "./prices.ts";

/** Undefined when no price is known for the model: an invented figure would be worse than none. */
export function costOf(usage: Usage, model: string | undefined, now: number): number | undefined {
  const price = model === undefined ? undefined : priceOf(model, now);
  if (price === undefined) return undefined;
  const long = price.longAbove !== undefined && usage.input > price.longAbove;
  const input = long ? (price.longInput ?? price.input) : price.input;
  const output = long ? (price.longOutput ?? price.output) : price.output;
  return (usage.input * input + usage.output * output) / 1_000_000 + usage.searches * SEARCH_QUERY_USD;
}

/** Hundredths of a cent are noise. */
export const roundUsd = (usd: number): number => Math.round(usd * 10_000) / 10_000;
