/** What Google charges, as of a date: one table for models and agents, which a user's `prices.json` may correct. */

import type { Usage } from "../gemini/ask.ts";

/** The API backend's model when GEMINI_MODEL is not set. */
export const DEFAULT_API_MODEL = "gemini-3.8-flash";

/** US dollars per million tokens. */
export interface TokenPrice {
  input: number;
  output: number;
  /** Input that was read from a cache; `CACHED_SHARE` of `input` where it is not given. */
  cached?: number | undefined;
  /** Above this prompt size the `long` prices hold. */
  longAbove?: number | undefined;
  longInput?: number | undefined;
  longOutput?: number | undefined;
}

interface ModelPrice extends TokenPrice {
  /** A pattern, or a name, which may end in `*`. */
  model: RegExp | string;
  /** First day this price no longer holds. */
  until?: string;
}

/** An agent's tokens are the sum of many prompts, so that the price of a long prompt cannot be told from them. */
export interface AgentPrice extends TokenPrice {
  agent: RegExp | string;
  taskUsd: { min: number; max: number };
  /** What a task uses; unknown for agents that only the user's file names. */
  typical?: Usage | undefined;
  /** How much longer than the standard agent it works. */
  pace: number;
}

export interface PriceTable {
  /** The day on which the prices were read. */
  asOf: string;
  /** Per search query, without the monthly free allowance, which only Google can count. */
  searchQueryUsd: number;
  /** The first that fits counts. */
  models: readonly ModelPrice[];
  agents: readonly AgentPrice[];
}

/** Derived: Gemini 3.1 Pro reads its cache at $0.20 instead of $2, and Google names "up to 90 %" for the others. */
export const CACHED_SHARE = 0.1;

/** Documented for both agents: 50 to 70 % of the input comes from the cache. */
const CACHED_INPUT = 0.6;

/** Derived: Google bills agents by "the underlying model" without naming it; with these prices its ranges come out. */
export const AGENT_TOKENS: TokenPrice = { input: 2, output: 12, cached: 0.2 };

/** Google's price page and its page on the agents, as transcribed on this day. Without a remark: documented. */
export const LIST_PRICES: PriceTable = {
  asOf: "2026-09-20",
  searchQueryUsd: 0.014,
  models: [
    { model: /^gemini-3\.1-pro/, input: 2, output: 12, longAbove: 200_000, longInput: 4, longOutput: 18 },
    { model: /^gemini-3\.[78]-flash(?!-lite)/, input: 0.75, output: 3.75, until: "2027-01-01" },
    { model: /^gemini-3\.[78]-flash(?!-lite)/, input: 1.5, output: 7.5 },
    { model: /^gemini-3\.[56]-flash(?!-lite)/, input: 1.5, output: 9 },
  ],
  agents: [
    {
      agent: "deep-research-max-preview-04-2026",
      ...AGENT_TOKENS,
      taskUsd: { min: 3, max: 7 },
      typical: { input: 900_000, cached: 900_000 * CACHED_INPUT, output: 80_000, searches: 160 },
      // Derived: twice the searches of the other agent, and no time of its own in the documentation.
      pace: 2,
    },
    {
      agent: /^deep-research-(?:preview-04-2026|pro-preview-12-2025)$/,
      ...AGENT_TOKENS,
      taskUsd: { min: 1, max: 3 },
      typical: { input: 250_000, cached: 250_000 * CACHED_INPUT, output: 60_000, searches: 80 },
      pace: 1,
    },
  ],
};

export function modelPrice(prices: PriceTable, model: string, now: number): TokenPrice | undefined {
  const today = new Date(now).toISOString().slice(0, 10);
  const name = plainName(model);
  return prices.models.find((price) => fits(price.model, name) && (price.until === undefined || today < price.until));
}

export function agentPrice(prices: PriceTable, agent: string): AgentPrice | undefined {
  const name = plainName(agent);
  return prices.agents.find((price) => fits(price.agent, name));
}

/** The API writes some names with the collection they belong to. */
const plainName = (name: string): string => name.trim().replace(/^(?:models|agents)\//, "");

function fits(pattern: RegExp | string, name: string): boolean {
  if (typeof pattern !== "string") return pattern.test(name);
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
