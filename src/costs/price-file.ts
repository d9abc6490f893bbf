/** The user's own prices: `prices.json` in the config directory stands before the built-in table. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Log } from "../platform/log.ts";
import { AGENT_TOKENS, type AgentPrice, agentPrice, LIST_PRICES, type PriceTable } from "./prices.ts";

const usd = z.number().min(0).max(1_000_000);
const tokenPrice = z.strictObject({
  input: usd,
  output: usd,
  cached: usd.optional(),
  long_above: z.int().positive().optional(),
  long_input: usd.optional(),
  long_output: usd.optional(),
});
const agentEntry = z.strictObject({
  usd_per_task: z
    .strictObject({ min: usd, max: usd })
    .refine(({ min, max }) => min <= max, { error: "min is above max" }),
  input: usd.optional(),
  output: usd.optional(),
  cached: usd.optional(),
});
const priceFile = z.strictObject({
  as_of: z.iso.date().optional(),
  search_query_usd: usd.optional(),
  /** By name; `*` at the end stands for anything. */
  models: z.record(z.string().min(1), tokenPrice).optional(),
  agents: z.record(z.string().min(1), agentEntry).optional(),
});
type PriceFile = z.infer<typeof priceFile>;

export const PRICE_FILE = "prices.json";

/** A file that cannot be used is named, and leaves the built-in prices in force. */
export function loadPrices(directory: string, log: Log): PriceTable {
  const path = join(directory, PRICE_FILE);
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch (error) {
    const missing = error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
    if (!missing) log.warn(`${path} cannot be read; the built-in prices of ${LIST_PRICES.asOf} are used.`);
    return LIST_PRICES;
  }
  const parsed = priceFile.safeParse(readJson(content));
  if (parsed.success) return withOwn(parsed.data);
  const where = parsed.error.issues[0]?.path.join(".") ?? "";
  const at = where === "" ? "" : ` (see ${where})`;
  log.warn(`${path} is not a usable price table${at}; the built-in prices of ${LIST_PRICES.asOf} are used.`);
  return LIST_PRICES;
}

function readJson(content: string): unknown {
  try {
    // Windows editors put a byte order mark before the text.
    return JSON.parse(content.replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
}

function withOwn(own: PriceFile): PriceTable {
  const models = Object.entries(own.models ?? {}).map(([model, price]) => ({
    model,
    input: price.input,
    output: price.output,
    cached: price.cached,
    longAbove: price.long_above,
    longInput: price.long_input,
    longOutput: price.long_output,
  }));
  const agents = Object.entries(own.agents ?? {}).map(([agent, entry]): AgentPrice => {
    const known = agentPrice(LIST_PRICES, agent);
    const { input = AGENT_TOKENS.input, output = AGENT_TOKENS.output, cached } = entry;
    return {
      agent,
      input,
      output,
      cached,
      taskUsd: entry.usd_per_task,
      typical: known?.typical,
      pace: known?.pace ?? 1,
    };
  });
  return {
    asOf: own.as_of ?? LIST_PRICES.asOf,
    searchQueryUsd: own.search_query_usd ?? LIST_PRICES.searchQueryUsd,
    models: [...models, ...LIST_PRICES.models],
    agents: [...agents, ...LIST_PRICES.agents],
  };
}
