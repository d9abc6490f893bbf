import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_AGENT } from "../gemini/research-agent.ts";
import { costCalculator } from "./actual.ts";
import { loadPrices, PRICE_FILE } from "./price-file.ts";
import { agentPrice, LIST_PRICES } from "./prices.ts";
import { createTestLog } from "../../test/kit/log.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");

describe("prices.json", () => {
  let directory: string;
  let lines: string[];
  const log = createTestLog((line) => lines.push(line));
  const load = (content: unknown) => {
    writeFileSync(join(directory, PRICE_FILE), typeof content === "string" ? content : JSON.stringify(content));
    return loadPrices(directory, log);
  };

  beforeEach(() => {
    lines = [];
    directory = mkdtempSync(join(tmpdir(), "gemini-search-prices-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  test("is optional: without it the built-in table is used, without a log line (M2)", () => {
    expect(loadPrices(directory, log)).toBe(LIST_PRICES);
    expect(lines).toEqual([]);
  });

  test("overrides built-in prices, by name or by prefix (M2)", () => {
    const prices = load({
      as_of: "2027-03-01",
      search_query_usd: 0.02,
      models: { "gemini-3.8-flash": { input: 9, output: 1 }, "gemini-4*": { input: 5, output: 6, cached: 5 } },
      agents: {
        [DEFAULT_AGENT]: { usd_per_task: { min: 2, max: 4 }, input: 4 },
        "deep-research-2031": { usd_per_task: { min: 1, max: 1 } },
      },
    });
    const priced = costCalculator(prices);
    const cost = (...given: Parameters<typeof priced>): number | undefined => priced(...given).usd;
    const million = { input: 1_000_000, output: 0, cached: 0, searches: 0 };
    expect(prices.asOf).toBe("2027-03-01");
    expect(cost(million, "gemini-3.8-flash", NOW)).toBe(9);
    expect(cost({ ...million, cached: 1_000_000 }, "gemini-4-pro", NOW)).toBe(5);
    expect(cost(million, "gemini-3.1-pro-preview", NOW)).toBe(4);
    expect(cost({ ...million, searches: 100 }, DEFAULT_AGENT, NOW)).toBe(6);
    expect(cost(million, "deep-research-2031", NOW)).toBe(2);
    expect(agentPrice(prices, DEFAULT_AGENT, NOW)).toMatchObject({ taskUsd: { min: 2, max: 4 }, durationFactor: 1 });
    expect(lines).toEqual([]);
  });

  test("may begin with a byte order mark (M2)", () => {
    expect(load("\uFEFF{}").asOf).toBe(LIST_PRICES.asOf);
    expect(lines).toEqual([]);
  });

  test.each([
    ["not JSON", "{"],
    ["a list", []],
    ["an unknown key", { model: {} }],
    ["a negative price", { models: { x: { input: -1, output: 1 } } }],
    ["a price as text", { models: { x: { input: "1", output: 1 } } }],
    ["infinity", '{"search_query_usd": 1e999}'],
    ["an inverted range", { agents: { x: { usd_per_task: { min: 2, max: 1 } } } }],
    ["no date", { as_of: "yesterday" }],
  ])("with %s is named in a warning and ignored (M2)", (_what, content) => {
    expect(load(content)).toBe(LIST_PRICES);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\[WARN\] .*prices\.json is not a usable price table/);
  });
});
