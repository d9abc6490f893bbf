/** What a call cost, from reported figures: never invented, never off by a factor. */

import { describe, expect, test } from "vitest";
import { NO_USAGE } from "../gemini/ask.ts";
import { costOf, roundUsd } from "./actual.ts";
import { DEFAULT_API_MODEL, SEARCH_QUERY_USD } from "./prices.ts";

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
  expect(costOf({ ...NO_USAGE, searches: 3 }, "gemini-3.8-flash", IN_2026)).toBeCloseTo(3 * SEARCH_QUERY_USD, 10);
});

test.each(["gemini-3.8-flash-lite", "gemini-9", "", undefined])("P6 %j has no price, and none is made up", (model) => {
  expect(costOf(million, model, IN_2026)).toBeUndefined();
});

test("amounts are rounded to hundredths of a cent", () => {
  expect([0.00004, 0.00005, 1.23456].map(roundUsd)).toEqual([0, 0.0001, 1.2346]);
});
