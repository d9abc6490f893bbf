/** Loads the user's own prices from `prices.json` in the config directory; they override the built-in table. Notices on old prices. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parseJson } from "../platform/parse-json.ts";
import type { Log } from "../platform/log.ts";
import {
  AGENT_TOKEN_PRICE,
  type AgentPrice,
  dayOf,
  daysBetween,
  familyOf,
  LIST_PRICES,
  matchesName,
  type ModelPrice,
  type PriceTable,
} from "./prices.ts";
import { errorCodeOf } from "../platform/error-code.ts";

const usd = z.number().min(0).max(1_000_000);
/** The first and the last day on which a price is valid, in UTC. */
const validity = { from: z.iso.date().optional(), until: z.iso.date().optional() };
const tokenPrice = z.strictObject({
  ...validity,
  input: usd,
  output: usd,
  cached: usd.optional(),
  long_above: z.int().positive().optional(),
  long_input: usd.optional(),
  long_output: usd.optional(),
  grounded_prompt_usd: usd.optional(),
});
const agentEntry = z.strictObject({
  ...validity,
  usd_per_task: z
    .strictObject({ min: usd, max: usd })
    .refine(({ min, max }) => min <= max, { error: "min is above max" }),
  input: usd.optional(),
  output: usd.optional(),
  cached: usd.optional(),
});
/** One price, or a list of prices with dates; the first that is valid on the day of a run counts. */
function oneOrMore<Row extends z.ZodType>(row: Row) {
  return z.union([row.transform((single) => [single]), z.array(row).min(1)]);
}

const priceFile = z.strictObject({
  as_of: z.iso.date().optional(),
  search_query_usd: usd.optional(),
  /** Keyed by name, which may end in `*`. */
  models: z.record(z.string().min(1), oneOrMore(tokenPrice)).optional(),
  agents: z.record(z.string().min(1), oneOrMore(agentEntry)).optional(),
});
type PriceFile = z.infer<typeof priceFile>;

export const PRICE_FILE = "prices.json";

/** The built-in prices, and why, if the file cannot be used. */
export function readPrices(directory: string): { prices: PriceTable; fault?: string } {
  const path = join(directory, PRICE_FILE);
  const unusable = (why: string) => ({
    prices: LIST_PRICES,
    fault: `${path} ${why}; the built-in prices of ${LIST_PRICES.asOf} are used.`,
  });
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch (error) {
    const isMissing = ["ENOENT", "ENOTDIR"].includes(errorCodeOf(error));
    return isMissing ? { prices: LIST_PRICES } : unusable("cannot be read");
  }
  // Windows editors write a byte order mark.
  const parsed = priceFile.safeParse(parseJson(content.replace(/^\uFEFF/, "")));
  if (parsed.success) return { prices: withUserPrices(parsed.data) };
  const where = parsed.error.issues[0]?.path.join(".") ?? "";
  return unusable(`is not a usable price table${where === "" ? "" : ` (see ${where})`}`);
}

export function loadPrices(directory: string, log: Log): PriceTable {
  const { prices, fault } = readPrices(directory);
  if (fault !== undefined) log.warn(fault);
  return prices;
}

function withUserPrices(own: PriceFile): PriceTable {
  const models = Object.entries(own.models ?? {}).flatMap(([model, rows]) =>
    rows.map((row): ModelPrice => {
      const { long_above: longAbove, long_input: longInput, long_output: longOutput, ...price } = row;
      const { grounded_prompt_usd: groundedPromptUsd, ...plain } = price;
      return { model, family: familyOf(model), ...plain, longAbove, longInput, longOutput, groundedPromptUsd };
    }),
  );
  const agents = Object.entries(own.agents ?? {}).flatMap(([agent, rows]) =>
    rows.map(({ usd_per_task: taskUsd, ...row }): AgentPrice => {
      const known = LIST_PRICES.agents.find((listed) => matchesName(listed.agent, agent));
      return {
        agent,
        ...row,
        input: row.input ?? AGENT_TOKEN_PRICE.input,
        output: row.output ?? AGENT_TOKEN_PRICE.output,
        taskUsd,
        typical: known?.typical,
        durationFactor: known?.durationFactor ?? 1,
      };
    }),
  );
  return {
    asOf: own.as_of ?? LIST_PRICES.asOf,
    searchQueryUsd: own.search_query_usd ?? LIST_PRICES.searchQueryUsd,
    models: [...models, ...LIST_PRICES.models],
    agents: [...agents, ...LIST_PRICES.agents],
  };
}

const NOTICE_DAYS = 14;
/** Google has changed a price or added a model about every six weeks. */
const OLD_AFTER_DAYS = 120;

interface PriceNotice {
  message: string;
  /** The table has all prices that are known to follow. */
  isKnown: boolean;
}

export function priceNotices(prices: PriceTable, now: number): PriceNotice[] {
  const today = dayOf(now);
  const rows = [
    ...prices.models.map(({ model, ...row }) => ({ name: nameOf(model), ...row })),
    ...prices.agents.map(({ agent, ...row }) => ({ name: nameOf(agent), ...row })),
  ];
  const ending = rows.flatMap(({ name, until }) => {
    if (until === undefined || until < today || daysBetween(today, until) > NOTICE_DAYS) return [];
    const next = rows.find((row) => row.name === name && row.from !== undefined && row.from > until);
    const message =
      next === undefined
        ? `The price of ${name} ends on ${until}; later runs are priced by its family and marked as estimated.`
        : `The price of ${name} changes after ${until} to $${next.input} in and $${next.output} out per million tokens.`;
    return [{ message, isKnown: next !== undefined }];
  });
  const age = daysBetween(prices.asOf, today);
  return [
    ...ending,
    ...(age > OLD_AFTER_DAYS
      ? [
          {
            message: `The price table is ${age} days old (${prices.asOf}); Google's prices may have changed.`,
            isKnown: false,
          },
        ]
      : []),
  ];
}

const nameOf = (pattern: RegExp | string): string =>
  typeof pattern === "string"
    ? pattern
    : pattern.source
        .replaceAll(/\(\?:([^)|]+(?:\|[^)|]+)+)\)/g, (_group, names: string) => names.replaceAll("|", " and -"))
        .replaceAll(/\(\?[!:][^)]*\)\??/g, "")
        .replaceAll(/[\\^$]/g, "");
