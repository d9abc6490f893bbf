/** What Google charges, as of a date: one table for models and agents, which a user's `prices.json` may correct. */

import type { Usage } from "../gemini/search-backend.ts";

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
  /** Charged once per prompt that used Google Search, instead of once per search query. */
  groundedPromptUsd?: number | undefined;
}

/** The days on which a row is valid, both included, in UTC. Without a day it is open on that side. */
interface Validity {
  from?: string | undefined;
  until?: string | undefined;
}

export interface ModelPrice extends TokenPrice, Validity {
  /** A pattern, or a name, which may end in `*`. */
  model: RegExp | string;
  /** What an unlisted model of the same kind is priced by. */
  family?: Family | undefined;
}

/** An agent's tokens are the sum of many prompts, so that the price of a long prompt cannot be told from them. */
export interface AgentPrice extends TokenPrice, Validity {
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
  /** The first that fits and is valid counts. */
  models: readonly ModelPrice[];
  agents: readonly AgentPrice[];
}

/** Derived: Gemini 3.1 Pro reads its cache at $0.20 instead of $2, and Google names "up to 90 %" for the others. */
export const CACHED_SHARE = 0.1;

/** Documented for both agents: 50 to 70 % of the input comes from the cache. */
const CACHED_INPUT = 0.6;

/** Derived: Google bills agents by "the underlying model" without naming it; with these prices its ranges come out. */
export const AGENT_TOKENS: TokenPrice = { input: 2, output: 12, cached: 0.2 };

/** Gemini 2.5: $35 per 1,000 prompts that used Google Search. */
const GROUNDED_PROMPT_USD = 0.035;

/**
 * Google's price page and its page on the agents, transcribed between 2026-09-20 and this day; docs/fidelity.md names
 * the copies. Without a remark: documented.
 */
export const LIST_PRICES: PriceTable = {
  asOf: "2026-11-15",
  searchQueryUsd: 0.014,
  models: [
    { model: /^gemini-4-argon/, family: "gemini-4", input: 2, output: 10, cached: 0.1, until: "2026-11-30" },
    { model: /^gemini-4-argon/, family: "gemini-4", input: 4, output: 20, cached: 0.2, from: "2026-12-01" },
    {
      model: /^gemini-3(?:\.1)?-pro/,
      family: "pro",
      input: 2,
      output: 12,
      longAbove: 200_000,
      longInput: 4,
      longOutput: 18,
    },
    { model: /^gemini-3\.[678]-flash(?!-lite)/, family: "flash", input: 0.75, output: 3.75, until: "2026-12-31" },
    { model: /^gemini-3\.[678]-flash(?!-lite)/, family: "flash", input: 1.5, output: 7.5, from: "2027-01-01" },
    { model: /^gemini-3\.5-flash(?!-lite)/, family: "flash", input: 1.5, output: 9 },
    { model: /^gemini-3-flash(?!-lite)/, family: "flash", input: 0.5, output: 3 },
    { model: /^gemini-3\.5-flash-lite/, family: "flash-lite", input: 0.3, output: 2.5 },
    { model: /^gemini-3\.1-flash-lite/, family: "flash-lite", input: 0.25, output: 1.5 },
    {
      model: /^gemini-2\.5-pro/,
      family: "pro",
      input: 1.25,
      output: 10,
      longAbove: 200_000,
      longInput: 2.5,
      longOutput: 15,
      groundedPromptUsd: GROUNDED_PROMPT_USD,
    },
    {
      model: /^gemini-2\.5-flash(?!-lite)/,
      family: "flash",
      input: 0.3,
      output: 2.5,
      groundedPromptUsd: GROUNDED_PROMPT_USD,
    },
    {
      model: /^gemini-2\.5-flash-lite/,
      family: "flash-lite",
      input: 0.1,
      output: 0.4,
      groundedPromptUsd: GROUNDED_PROMPT_USD,
    },
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

const DAY_MS = 86_400_000;

export const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10);

/** Whole days from one day to another; negative when `to` is the earlier one. */
export const daysBetween = (from: string, to: string): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);

const isValidOn = ({ from, until }: Validity, day: string): boolean =>
  (from === undefined || from <= day) && (until === undefined || day <= until);

export function modelPrice(prices: PriceTable, model: string, now: number): TokenPrice | undefined {
  const name = plainName(model);
  return prices.models.find((row) => fits(row.model, name) && isValidOn(row, dayOf(now)));
}

export function agentPrice(prices: PriceTable, agent: string, now: number): AgentPrice | undefined {
  const name = plainName(agent);
  return prices.agents.find((row) => fits(row.agent, name) && isValidOn(row, dayOf(now)));
}

export type Family = "deep-research" | "flash-lite" | "flash" | "pro" | "gemini-4";

/** They bill pictures, speech and video at rates of their own, and none of them answers a search. */
const OTHER_MEDIA = /-(?:image|tts|live|audio|native|embedding|robotics|computer)/;

const FAMILIES: readonly [Family, RegExp][] = [
  ["deep-research", /^deep-research-/],
  ["flash-lite", /^gemini-.*flash-lite/],
  ["flash", /^gemini-.*flash/],
  ["pro", /^gemini-.*pro(?:-|$)/],
  ["gemini-4", /^gemini-4/],
];

export function familyOf(model: string): Family | undefined {
  const name = plainName(model);
  return OTHER_MEDIA.test(name) ? undefined : FAMILIES.find(([, pattern]) => pattern.test(name))?.[0];
}

/** The highest of each price in the family: an unlisted model then costs rather less than what is shown. */
export function familyPrice(prices: PriceTable, model: string, now: number): TokenPrice | undefined {
  const family = familyOf(model);
  const day = dayOf(now);
  const rows: TokenPrice[] =
    family === "deep-research"
      ? prices.agents.filter((row) => isValidOn(row, day))
      : prices.models.filter((row) => row.family === family && isValidOn(row, day));
  if (family === undefined || rows.length === 0) return undefined;
  const highest = (price: (row: TokenPrice) => number): number => Math.max(...rows.map(price));
  return {
    input: highest(({ input, longInput = 0 }) => Math.max(input, longInput)),
    output: highest(({ output, longOutput = 0 }) => Math.max(output, longOutput)),
    cached: highest(({ input, cached = input * CACHED_SHARE }) => cached),
  };
}

/** The API writes some names with the collection they belong to. */
const plainName = (name: string): string => name.trim().replace(/^(?:models|agents)\//, "");

export function fits(pattern: RegExp | string, name: string): boolean {
  if (typeof pattern !== "string") return pattern.test(name) && !OTHER_MEDIA.test(name);
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
