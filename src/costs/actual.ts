/** What a finished call or task cost, from the figures that Google reported. */

import type { Usage } from "../gemini/ask.ts";
import { agentPrice, CACHED_SHARE, LIST_PRICES, modelPrice, type PriceTable, type TokenPrice } from "./prices.ts";

/** Undefined when no price is known for the model: an invented figure would be worse than none. */
export type CostOf = (usage: Usage, model: string | undefined, now: number) => number | undefined;

export const pricedBy =
  (prices: PriceTable): CostOf =>
  (usage, model, now) => {
    if (model === undefined) return undefined;
    const agent = agentPrice(prices, model);
    const price = agent ?? modelPrice(prices, model, now);
    if (price === undefined) return undefined;
    const long = agent === undefined && price.longAbove !== undefined && usage.input > price.longAbove;
    return tokensUsd(usage, long ? longPrice(price) : price) + usage.searches * prices.searchQueryUsd;
  };

export const costOf: CostOf = pricedBy(LIST_PRICES);

function tokensUsd(usage: Usage, { input, output, cached = input * CACHED_SHARE }: TokenPrice): number {
  const fromCache = Math.min(usage.cached, usage.input);
  return ((usage.input - fromCache) * input + fromCache * cached + usage.output * output) / 1_000_000;
}

function longPrice({ input, output, cached, longInput = input, longOutput = output }: TokenPrice): TokenPrice {
  // Reading the cache of a long prompt grows dearer with its input.
  return {
    input: longInput,
    output: longOutput,
    cached: cached === undefined || input === 0 ? cached : (cached * longInput) / input,
  };
}

/** Hundredths of a cent are noise. */
export const roundUsd = (usd: number): number => Math.round(usd * 10_000) / 10_000;
