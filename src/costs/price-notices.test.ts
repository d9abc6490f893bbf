import { expect, test } from "vitest";
import { configuredModels, priceNotices } from "./price-notices.ts";
import { LIST_PRICES } from "./prices.ts";

const noticesOn = (day: string, models = configuredModels({}), prices = LIST_PRICES) =>
  priceNotices(prices, { models, now: Date.parse(`${day}T12:00:00Z`) });
const on = (...given: Parameters<typeof noticesOn>): string[] => noticesOn(...given).map(({ message }) => message);

const CARBON = "From 2026-12-01 gemini-4-carbon costs $4 in and $20 out per million tokens; now $2 and $10.";
const FLASH = "From 2027-01-01 gemini-3.8-flash costs $1.50 in and $7.50 out per million tokens; now $0.75 and $3.75.";

test.each([
  ["2026-11-15", []],
  ["2026-11-16", [CARBON]],
  ["2026-11-30", [CARBON]],
  ["2026-12-01", []],
  ["2026-12-16", []],
  ["2026-12-17", [FLASH]],
  ["2026-12-31", [FLASH]],
  ["2027-01-01", []],
])("on %s a change of a used price within 14 days is announced with both prices (S6)", (day, expected) => {
  expect(on(day, ["gemini-4-carbon", "gemini-3.8-flash", "gemini-3.8-flash", "deep-research-preview-04-2026"])).toEqual(
    expected,
  );
});

test("a change of a price that is not used is not announced (S6)", () => {
  expect(on("2026-11-20")).toEqual([]);
  expect(on("2026-11-20", configuredModels({ GEMINI_MODEL: "gemini-4-argon" }))).toHaveLength(1);
  expect(on("2026-12-20", configuredModels({ GEMINI_MODEL: "a", GEMINI_CORRECTION_MODEL: "b" }))).toEqual([]);
  expect(noticesOn("2026-12-20")).toEqual([{ message: FLASH, isKnown: true }]);
});

test("a row that ends without a successor is announced (S6)", () => {
  const models = [{ model: "gemini-x", input: 1, output: 1, until: "2026-11-20" }];
  expect(noticesOn("2026-11-15", ["gemini-x"], { ...LIST_PRICES, models })).toEqual([
    {
      message: "The price of gemini-x ends on 2026-11-20; later runs are priced by its family and marked as estimated.",
      isKnown: false,
    },
  ]);
});

test("an old table is announced with its age (S6)", () => {
  expect(on("2027-03-20")).toEqual(["The price table is 125 days old (2026-11-15); Google's prices may have changed."]);
});
