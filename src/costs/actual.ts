/** What a finished call or task cost, from the figures that Google reported. */

import type { Usage } from "../gemini/search-backend.ts";
import {
  agentPrice,
  CACHED_SHARE,
  familyPrice,
  LIST_PRICES,
  modelPrice,
  type PriceTable,
  type TokenPrice,
} from "./prices.ts";

/** An amount, and how it is to be taken. Every surface shows the marks that are set. */
export interface Cost {
  /** Undefined while no part of it has a price. */
  usd: number | undefined;
  /** A part has no price, or its token counts could not be read: `usd` is a lower bound. */
  incomplete: boolean;
  /** A part was priced by its model's family, at the family's highest price. */
  estimated: boolean;
}

/** Before anything was reported: neither an amount nor a mark. */
export const NO_COST: Cost = { usd: undefined, incomplete: false, estimated: false };

/** `at` is when the work was done: prices change, and what was used before a change costs what it cost then. */
export type CostOf = (usage: Usage, model: string | undefined, at: number) => Cost;

export const pricedBy =
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

export const costOf: CostOf = pricedBy(LIST_PRICES);

/** One part without a price makes the sum a lower bound; it is never left out silently. */
export function addCosts(one: Cost, other: Cost): Cost {
  return {
    usd: one.usd === undefined && other.usd === undefined ? undefined : (one.usd ?? 0) + (other.usd ?? 0),
    incomplete: one.incomplete || other.incomplete,
    estimated: one.estimated || other.estimated,
  };
}

function searchesUsd(
  { searches, groundedPrompts = Math.min(1, searches) }: Usage,
  { price, prices }: { price: TokenPrice | undefined; prices: PriceTable },
): number {
  const perPrompt = price?.groundedPromptUsd;
  return perPrompt === undefined ? searches * prices.searchQueryUsd : groundedPrompts * perPrompt;
}

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

export const roundCost = (cost: Cost): Cost => ({
  ...cost,
  usd: cost.usd === undefined ? undefined : roundUsd(cost.usd),
});

export interface CostFields {
  cost_usd: number | undefined;
  cost_incomplete: true | undefined;
  cost_estimated: true | undefined;
}

/** How every answer states a cost. */
export const costFields = ({ usd, incomplete, estimated }: Cost): CostFields => ({
  cost_usd: usd,
  cost_incomplete: incomplete ? true : undefined,
  cost_estimated: estimated ? true : undefined,
});
