/** What a call cost, from reported figures: never invented, never off by a factor. */

import { describe, expect, test } from "vitest";
import { NO_USAGE } from "../gemini/ask.ts";
import { DEFAULT_AGENT } from "../gemini/agents.ts";
import { costOf, roundUsd } from "./actual.ts";
import { agentPrice, DEFAULT_API_MODEL, LIST_PRICES } from "./prices.ts";

const IN_2026 = Date.UTC(2026, 10, 15);
const IN_2027 = Date.UTC(2027, 0, 1);
const million = { ...NO_USAGE, input: 1_000_000, output: 1_000_000 };
const small = { ...NO_USAGE, input: 100_000, output: 1_000_000 };

describe("P6 tokens cost what the price table says on that day", () => {
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

test("P6 the default model has a price", () => {
  expect(costOf(million, DEFAULT_API_MODEL, IN_2026)).toBeGreaterThan(0);
});

test("P6 every search query is charged", () => {
  expect(costOf({ ...NO_USAGE, searches: 3 }, "gemini-3.8-flash", IN_2026)).toBeCloseTo(3 * 0.014, 10);
});

test.each(["gemini-3.8-flash-lite", "gemini-9", "deep-research-preview-01-2031", "", undefined])(
  "P6 %j has no price, and none is made up",
  (model) => {
    expect(costOf(million, model, IN_2026)).toBeUndefined();
  },
);

test("amounts are rounded to hundredths of a cent", () => {
  expect([0.00004, 0.00005, 1.23456].map(roundUsd)).toEqual([0, 0.0001, 1.2346]);
});

describe("agents and caches", () => {
  test("P6 a recorded deep research costs what Google's prices say", () => {
    // A task of 2026-08-18 as Google reported it: output and thoughts together, nothing cached.
    const usage = { input: 193_279, output: 8_664 + 16_891, cached: 0, searches: 17 };
    expect(costOf(usage, "deep-research-pro-preview-12-2025", IN_2026)).toBeCloseTo(0.931, 3);
    // Tool results counted as input.
    expect(costOf({ ...usage, input: 193_279 + 53_036 }, DEFAULT_AGENT, IN_2026)).toBeCloseTo(1.037, 3);
  });

  test("P6, M2: the typical task of each agent lies within Google's range for it", () => {
    for (const agent of [DEFAULT_AGENT, "deep-research-max-preview-04-2026"]) {
      const price = agentPrice(LIST_PRICES, agent);
      const cost = price?.typical && costOf(price.typical, agent, IN_2026);
      expect(cost).toBeGreaterThan(price?.taskUsd.min ?? Number.NaN);
      expect(cost).toBeLessThan(price?.taskUsd.max ?? Number.NaN);
    }
  });

  test("P6 cached input costs a tenth, and never more than there was input", () => {
    const usage = { input: 100_000, output: 0, cached: 0, searches: 0 };
    expect(costOf(usage, DEFAULT_AGENT, IN_2026)).toBeCloseTo(0.2, 6);
    expect(costOf({ ...usage, cached: 50_000 }, DEFAULT_AGENT, IN_2026)).toBeCloseTo(0.11, 6);
    expect(costOf({ ...usage, cached: 900_000 }, DEFAULT_AGENT, IN_2026)).toBeCloseTo(0.02, 6);
    expect(costOf({ ...usage, cached: 50_000 }, "gemini-3.8-flash", IN_2026)).toBeCloseTo(0.04125, 6);
  });

  test("P6 a long prompt has its own price for a model, not for an agent's many prompts", () => {
    const usage = { input: 300_000, output: 10_000, cached: 100_000, searches: 0 };
    expect(costOf(usage, "gemini-3.1-pro-preview", IN_2026)).toBeCloseTo(0.8 + 0.04 + 0.18, 6);
    expect(costOf(usage, DEFAULT_AGENT, IN_2026)).toBeCloseTo(0.4 + 0.02 + 0.12, 6);
  });
});
