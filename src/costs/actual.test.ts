/** Costs computed from reported usage. */

import { describe, expect, test } from "vitest";
import { NO_USAGE } from "../gemini/search-backend.ts";
import { DEFAULT_AGENT } from "../gemini/research-agent.ts";
import { addCosts, type Cost, costCalculator, NO_COST, roundUsd } from "./actual.ts";
import { agentPrice, DEFAULT_API_MODEL, LIST_PRICES } from "./prices.ts";

const priced = costCalculator(LIST_PRICES);
const costOf = (...given: Parameters<typeof priced>): number | undefined => priced(...given).usd;

const IN_2026 = Date.UTC(2026, 10, 15);
const IN_2027 = Date.UTC(2027, 0, 1);
const million = { ...NO_USAGE, input: 1_000_000, output: 1_000_000 };
const small = { ...NO_USAGE, input: 100_000, output: 1_000_000 };

describe("tokens cost what the price table lists for that day (P6)", () => {
  test.each([
    ["gemini-3.8-flash", million, IN_2026, 4.5],
    ["models/gemini-3.8-flash", million, IN_2026, 4.5],
    ["gemini-3.7-flash-002", million, IN_2026, 4.5],
    ["gemini-3.8-flash", million, IN_2027, 9],
    ["gemini-3.5-flash", million, IN_2026, 10.5],
    ["gemini-3.1-pro", small, IN_2026, 12.2],
    ["gemini-3.1-pro", million, IN_2026, 22],
  ])("%s", (model, usage, now, usd) => {
    expect(costOf(usage, model, now)).toBeCloseTo(usd, 10);
  });
});

test("the default model has a price (P6)", () => {
  expect(costOf(million, DEFAULT_API_MODEL, IN_2026)).toBeGreaterThan(0);
});

test("every search query is charged (P6)", () => {
  expect(costOf({ ...NO_USAGE, searches: 3 }, "gemini-3.8-flash", IN_2026)).toBeCloseTo(3 * 0.014, 10);
});

test.each(["gemini-9", "gemini-3-pro-image-preview", "gpt-9", "", undefined])(
  "%j has no price, and none is invented (P6)",
  (model) => {
    expect(priced(million, model, IN_2026)).toEqual({ usd: undefined, incomplete: true, estimated: false });
  },
);

describe("prices depend on the date (S6)", () => {
  const NOVEMBER_30 = Date.parse("2026-11-30T23:59:59Z");
  const DECEMBER_1 = Date.parse("2026-12-01T00:00:00Z");
  const read = { ...NO_USAGE, input: 1_000_000, cached: 1_000_000 };

  test.each(["gemini-4-argon", "gemini-4-carbon"])(
    "%s costs $2/$10/$0.10 until 2026-11-30, then $4/$20/$0.20 (S6)",
    (model) => {
      expect(priced(million, model, NOVEMBER_30)).toEqual({ usd: 12, incomplete: false, estimated: false });
      expect(costOf(read, model, NOVEMBER_30)).toBeCloseTo(0.1, 10);
      expect(costOf(million, model, DECEMBER_1)).toBe(24);
      expect(costOf(read, model, DECEMBER_1)).toBeCloseTo(0.2, 10);
    },
  );

  test.each([
    ["gemini-2.5-pro", small, 10.125],
    ["gemini-2.5-flash", million, 2.8],
    ["gemini-2.5-flash-lite", million, 0.5],
    ["gemini-3.5-flash-lite", million, 2.8],
    ["gemini-3.1-flash-lite-preview", million, 1.75],
    ["gemini-3-flash-preview", million, 3.5],
    ["gemini-3-pro-preview", small, 12.2],
  ])("%s has its own price (S6)", (model, usage, usd) => {
    expect(priced(usage, model, IN_2026)).toEqual({
      usd: expect.closeTo(usd, 10),
      incomplete: false,
      estimated: false,
    });
  });

  test("Gemini 2.5 is charged per prompt that searched, not per query (S6)", () => {
    expect(costOf({ ...NO_USAGE, searches: 5 }, "gemini-2.5-flash", IN_2026)).toBeCloseTo(0.035, 10);
    expect(costOf({ ...NO_USAGE, searches: 5, groundedPrompts: 5 }, "gemini-2.5-flash", IN_2026)).toBeCloseTo(
      0.175,
      10,
    );
  });

  test.each([
    ["gemini-3.9-flash", IN_2026, 10.5],
    ["gemini-3.8-flash-lite", IN_2026, 2.8],
    ["gemini-5-pro-preview", IN_2026, 22],
    ["gemini-4-neon", NOVEMBER_30, 12],
    ["gemini-4-neon", DECEMBER_1, 24],
    ["deep-research-preview-01-2031", IN_2026, 14],
  ])("%s is priced at its family's highest and marked as estimated (S6)", (model, at, usd) => {
    expect(priced(million, model, at)).toEqual({ usd: expect.closeTo(usd, 10), incomplete: false, estimated: true });
  });

  test("a model whose last row has ended is priced by its family (S6)", () => {
    const row = { model: "gemini-x-pro", family: "pro" as const, input: 1, output: 1, until: "2026-10-31" };
    const ended = costCalculator({ ...LIST_PRICES, models: [row, ...LIST_PRICES.models] });
    expect(ended(million, "gemini-x-pro", Date.parse("2026-10-31T12:00:00Z"))).toMatchObject({
      usd: 2,
      estimated: false,
    });
    expect(ended(million, "gemini-x-pro", IN_2026)).toMatchObject({ usd: 22, estimated: true });
  });
});

test("one part without a price makes a sum a lower bound, neither absent nor 0 (S6)", () => {
  const known: Cost = priced(million, "gemini-3.8-flash", IN_2026);
  const unknown: Cost = priced({ ...million, searches: 2 }, "gemini-9", IN_2026);
  expect(unknown).toEqual({ usd: 0.028, incomplete: true, estimated: false });
  expect(addCosts(known, unknown)).toEqual({ usd: 4.528, incomplete: true, estimated: false });
  expect(addCosts(NO_COST, priced(million, "gemini-9", IN_2026))).toEqual({ ...NO_COST, incomplete: true });
});

test("amounts are rounded to hundredths of a cent", () => {
  expect([0.00004, 0.00005, 1.23456].map(roundUsd)).toEqual([0, 0.0001, 1.2346]);
});

describe("agents and caches", () => {
  test("a recorded deep research costs what Google's prices yield (P6)", () => {
    // Google's usage of a task of 2026-08-18: output and thoughts together, nothing cached.
    const usage = { input: 193_279, output: 8_664 + 16_891, cached: 0, searches: 17 };
    expect(costOf(usage, "deep-research-pro-preview-12-2025", IN_2026)).toBeCloseTo(0.931, 3);
    // Tool results counted as input.
    expect(costOf({ ...usage, input: 193_279 + 53_036 }, DEFAULT_AGENT, IN_2026)).toBeCloseTo(1.037, 3);
  });

  test("the typical task of each agent is within Google's range for it (P6, M2)", () => {
    // As documented, but without the caching that no recorded run shows.
    const typical = {
      [DEFAULT_AGENT]: { input: 250_000, cached: 0, output: 60_000, searches: 80 },
      "deep-research-max-preview-04-2026": { input: 900_000, cached: 0, output: 80_000, searches: 160 },
    };
    for (const [agent, usage] of Object.entries(typical)) {
      const price = agentPrice(LIST_PRICES, agent, IN_2026);
      const cost = costOf(usage, agent, IN_2026);
      expect(cost).toBeGreaterThan(price?.taskUsd.min ?? Number.NaN);
      expect(cost).toBeLessThan(price?.taskUsd.max ?? Number.NaN);
    }
  });

  test("cached input costs a tenth, and never more than all input (P6)", () => {
    const usage = { input: 100_000, output: 0, cached: 0, searches: 0 };
    expect(costOf(usage, DEFAULT_AGENT, IN_2026)).toBeCloseTo(0.2, 6);
    expect(costOf({ ...usage, cached: 50_000 }, DEFAULT_AGENT, IN_2026)).toBeCloseTo(0.11, 6);
    expect(costOf({ ...usage, cached: 900_000 }, DEFAULT_AGENT, IN_2026)).toBeCloseTo(0.02, 6);
    expect(costOf({ ...usage, cached: 50_000 }, "gemini-3.8-flash", IN_2026)).toBeCloseTo(0.04125, 6);
  });

  test("a long prompt has its own price for a model, but not for the many prompts of an agent (P6)", () => {
    const usage = { input: 300_000, output: 10_000, cached: 100_000, searches: 0 };
    expect(costOf(usage, "gemini-3.1-pro-preview", IN_2026)).toBeCloseTo(0.8 + 0.04 + 0.18, 6);
    expect(costOf(usage, DEFAULT_AGENT, IN_2026)).toBeCloseTo(0.4 + 0.02 + 0.12, 6);
  });
});
