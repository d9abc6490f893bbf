/** Warnings about prices that end or are old. */

import { expect, test } from "vitest";
import { priceNotices } from "./price-age.ts";
import { LIST_PRICES } from "./prices.ts";

const noticesOn = (day: string) => priceNotices(LIST_PRICES, Date.parse(`${day}T12:00:00Z`));
const on = (day: string): string[] => noticesOn(day).map(({ message }) => message);

test("a row that ends within 14 days is announced with its next price (S6)", () => {
  expect(on("2026-11-15")).toEqual([]);
  expect(on("2026-11-16")).toEqual([
    "The price of gemini-4-argon and -carbon changes after 2026-11-30 to $4 in and $20 out per million tokens.",
  ]);
  expect(noticesOn("2026-11-30")).toMatchObject([{ isKnown: true }]);
  expect(on("2026-12-01")).toEqual([]);
});

test("a row that ends without a successor is announced (S6)", () => {
  const models = [{ model: "gemini-x", input: 1, output: 1, until: "2026-11-20" }];
  expect(priceNotices({ ...LIST_PRICES, models }, Date.parse("2026-11-15T00:00:00Z"))).toEqual([
    {
      message: "The price of gemini-x ends on 2026-11-20; later runs are priced by its family and marked as estimated.",
      isKnown: false,
    },
  ]);
});

test("an old table is announced with its age (S6)", () => {
  expect(on("2027-03-20")).toEqual(["The price table is 125 days old (2026-11-15); Google's prices may have changed."]);
});
