/** Loads the user's own prices from `prices.json` in the config directory; they override the built-in table. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parseJson } from "../platform/parse-json.ts";
import type { Log } from "../platform/log.ts";
import {
  AGENT_TOKEN_PRICE,
  type AgentPrice,
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
