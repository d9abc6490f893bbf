/** Google's prices of models and agents as of a date, which a user's `prices.json` can override. */

/** The API backend's model if GEMINI_MODEL is not set. */
export const DEFAULT_API_MODEL = "gemini-3.8-flash";
/** Answers follow-ups. */
export const FOLLOWUP_MODEL = "gemini-3.1-pro-preview";
/** Judges claims that the comparison of texts leaves open. */
export const JUDGE_MODEL = "gemini-decision-1";

/** US dollars per million tokens. */
export interface TokenPrice {
  input: number;
  output: number;
  /** Price of cached input; by default `input` times `CACHED_PRICE_FACTOR`. */
  cached?: number | undefined;
  /** Prompt size in tokens above which the `long` prices apply. */
  longAbove?: number | undefined;
  longInput?: number | undefined;
  longOutput?: number | undefined;
  /** Price per prompt that used Google Search, instead of per search query. */
  groundedPromptUsd?: number | undefined;
}

/** First and last day on which a row is valid, in UTC; a missing day means no bound. */
interface Validity {
  from?: string | undefined;
  until?: string | undefined;
}

export interface ModelPrice extends TokenPrice, Validity {
  /** A pattern, or a name that may end in `*`. */
  model: RegExp | string;
  /** Unlisted models are priced by their family. */
  family?: Family | undefined;
}

/** An agent's tokens are the sum of many prompts, so prices of long prompts do not apply. */
export interface AgentPrice extends TokenPrice, Validity {
  agent: RegExp | string;
  /** What four in five tasks cost. */
  taskUsd: { min: number; max: number };
  /** Duration relative to the standard agent. */
  durationFactor: number;
}

export interface PriceTable {
  /** The day on which the prices were read. */
  asOf: string;
  /** Price per search query, ignoring the monthly free allowance, which only Google can count. */
  searchQueryUsd: number;
  /** The first matching and valid row counts. */
  models: readonly ModelPrice[];
  agents: readonly AgentPrice[];
}

/** Derived: cached input of Gemini 3.1 Pro costs $0.20 instead of $2, and Google states "up to 90 %" for the others. */
export const CACHED_PRICE_FACTOR = 0.1;

/** Derived: Google bills agents by "the underlying model" without naming it; these prices reproduce its ranges. */
export const AGENT_TOKEN_PRICE: TokenPrice = { input: 2, output: 12, cached: 0.2 };

/** Gemini 2.5: $35 per 1,000 prompts that used Google Search. */
const GROUNDED_PROMPT_USD = 0.035;

/**
 * Transcribed between 2026-09-20 and `asOf` from Google's pages on prices and agents;
 * docs/engineering/fidelity.md names the copies.
 * Values without a comment are documented.
 */
export const LIST_PRICES: PriceTable = {
  asOf: "2026-11-15",
  searchQueryUsd: 0.014,
  models: [
    { model: /^gemini-4-(?:argon|carbon)/, family: "gemini-4", input: 2, output: 10, cached: 0.1, until: "2026-11-30" },
    { model: /^gemini-4-(?:argon|carbon)/, family: "gemini-4", input: 4, output: 20, cached: 0.2, from: "2026-12-01" },
    // Only its input is charged.
    { model: /^gemini-decision-1/, input: 0.1, output: 0 },
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
      ...AGENT_TOKEN_PRICE,
      // Documented: up to $7. A run of 2026-05-07 with 4.6 million tokens of input costs $10.49 at these prices.
      taskUsd: { min: 3, max: 10.5 },
      // Derived: it makes twice as many searches as the other agent; its duration is not documented.
      durationFactor: 2,
    },
    {
      agent: /^deep-research-(?:preview-04-2026|pro-preview-12-2025)$/,
      ...AGENT_TOKEN_PRICE,
      // Documented: from $1. Fifteen runs of 2026-08-18 cost $0.71 to $1.61 at these prices.
      taskUsd: { min: 0.7, max: 3 },
      durationFactor: 1,
    },
  ],
};

export const DAY_MS = 86_400_000;

export const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10);

/** Whole days from `from` to `to`; negative if `to` is earlier. */
export const daysBetween = (from: string, to: string): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);

const isValidOn = ({ from, until }: Validity, day: string): boolean =>
  (from === undefined || from <= day) && (until === undefined || day <= until);

export function modelPrice(prices: PriceTable, model: string, now: number): ModelPrice | undefined {
  const name = withoutCollection(model);
  return prices.models.find((row) => matchesName(row.model, name) && isValidOn(row, dayOf(now)));
}

export function agentPrice(prices: PriceTable, agent: string, now: number): AgentPrice | undefined {
  const name = withoutCollection(agent);
  return prices.agents.find((row) => matchesName(row.agent, name) && isValidOn(row, dayOf(now)));
}

/** What texts say that a task costs, in whole dollars that the record does not exceed: `$1 to $3`. */
export function taskCostText(agent: string): string {
  const row = LIST_PRICES.agents.find((price) => matchesName(price.agent, agent));
  if (row === undefined) throw new Error(`There is no price of ${agent}.`);
  return `$${Math.round(row.taskUsd.min)} to $${Math.ceil(row.taskUsd.max)}`;
}

type Family = "deep-research" | "flash-lite" | "flash" | "pro" | "gemini-4";

/** Models for images, speech and video have other prices, and none of them answers a search. */
const OTHER_MEDIA = /-(?:image|tts|live|audio|native|embedding|robotics|computer)/;

const FAMILIES: readonly [Family, RegExp][] = [
  ["deep-research", /^deep-research-/],
  ["flash-lite", /^gemini-.*flash-lite/],
  ["flash", /^gemini-.*flash/],
  ["pro", /^gemini-.*pro(?:-|$)/],
  ["gemini-4", /^gemini-4/],
];

export function familyOf(model: string): Family | undefined {
  const name = withoutCollection(model);
  return OTHER_MEDIA.test(name) ? undefined : FAMILIES.find(([, pattern]) => pattern.test(name))?.[0];
}

/** The highest prices in the family, so that an unlisted model rarely costs more than shown. */
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
    cached: highest(({ input, longInput = input, cached = input * CACHED_PRICE_FACTOR }) =>
      input === 0 ? cached : (cached * longInput) / input,
    ),
  };
}

/** What an unlisted agent is expected to cost at most: the highest prices of its family, and its most expensive tasks. */
export function familyAgentPrice(prices: PriceTable, agent: string, now: number): AgentPrice | undefined {
  const tokens = familyPrice(prices, agent, now);
  if (tokens === undefined || familyOf(agent) !== "deep-research") return undefined;
  const rows = prices.agents.filter((row) => isValidOn(row, dayOf(now)));
  const [dearest] = rows.toSorted((one, other) => other.taskUsd.max - one.taskUsd.max);
  return dearest && { ...tokens, agent, taskUsd: dearest.taskUsd, durationFactor: dearest.durationFactor };
}

/** The API prefixes some names with their collection. */
const withoutCollection = (name: string): string => name.trim().replace(/^(?:models|agents)\//, "");

export function matchesName(pattern: RegExp | string, name: string): boolean {
  if (typeof pattern !== "string") return pattern.test(name) && !OTHER_MEDIA.test(name);
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
