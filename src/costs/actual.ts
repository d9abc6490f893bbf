/** Calculates the cost of a finished call or task from the usage that Google reported. */

import type { Usage } from "../gemini/search-backend.ts";
import {
  agentPrice,
  CACHED_PRICE_FACTOR,
  familyPrice,
  modelPrice,
  type PriceTable,
  type TokenPrice,
} from "./prices.ts";

/** An amount with its caveats. Every surface shows the flags that are set. */
export interface Cost {
  /** Undefined if no part has a price. */
  usd: number | undefined;
  /** A part has no price or unreadable token counts, so `usd` is a lower bound. */
  incomplete: boolean;
  /** A part was priced at the highest price of its model family. */
  estimated: boolean;
}

/** The cost before any usage was reported. */
export const NO_COST: Cost = { usd: undefined, incomplete: false, estimated: false };

/** `at` is the time of the work, because prices change. */
export type CostOf = (usage: Usage, model: string | undefined, at: number) => Cost;

export const costCalculator =
  (prices: PriceTable): CostOf =>
  (usage, model = "", at) => {
    const agent = agentPrice(prices, model, at);
    const exact = agent ?? modelPrice(prices, model, at);
    const price = exact ?? familyPrice(prices, model, at);
    const searches = searchesUsd(usage, { price, prices });
    if (price === undefined) return { usd: searches > 0 ? searches : undefined, incomplete: true, estimated: false };
    const isLong = agent === undefined && price.longAbove !== undefined && usage.input > price.longAbove;
    const tokens = tokensUsd(usage, isLong ? longPrice(price) : price);
    return { usd: tokens + searches, incomplete: usage.isIncomplete === true, estimated: exact === undefined };
  };

/** If one part has no price, the sum is marked as a lower bound. */
export function addCosts(first: Cost, second: Cost): Cost {
  return {
    usd: first.usd === undefined && second.usd === undefined ? undefined : (first.usd ?? 0) + (second.usd ?? 0),
    incomplete: first.incomplete || second.incomplete,
    estimated: first.estimated || second.estimated,
  };
}

function searchesUsd(
  { searches, groundedPrompts = Math.min(1, searches) }: Usage,
  { price, prices }: { price: TokenPrice | undefined; prices: PriceTable },
): number {
  const perPrompt = price?.groundedPromptUsd;
  return perPrompt === undefined ? searches * prices.searchQueryUsd : groundedPrompts * perPrompt;
}

function tokensUsd(usage: Usage, { input, output, cached = input * CACHED_PRICE_FACTOR }: TokenPrice): number {
  const fromCache = Math.min(usage.cached, usage.input);
  return ((usage.input - fromCache) * input + fromCache * cached + usage.output * output) / 1_000_000;
}

function longPrice({ input, output, cached, longInput = input, longOutput = output }: TokenPrice): TokenPrice {
  // The cache price of a long prompt rises with its input price.
  return {
    input: longInput,
    output: longOutput,
    cached: cached === undefined || input === 0 ? cached : (cached * longInput) / input,
  };
}

/** Rounds to hundredths of a cent. */
export const roundUsd = (usd: number): number => Math.round(usd * 10_000) / 10_000;

export const roundCost = (cost: Cost): Cost => ({
  ...cost,
  usd: cost.usd === undefined ? undefined : roundUsd(cost.usd),
});

interface CostFields {
  cost_usd: number | undefined;
  cost_incomplete: true | undefined;
  cost_estimated: true | undefined;
}

/** The cost fields of every answer. */
export const costFields = ({ usd, incomplete, estimated }: Cost): CostFields => ({
  cost_usd: usd,
  cost_incomplete: incomplete ? true : undefined,
  cost_estimated: estimated ? true : undefined,
});
