import { expect, test } from "vitest";
import { judgeCost } from "./price.ts";

test("a button names the price of the judge before it is pressed, and none where nothing can be charged (W3)", () => {
  expect(judgeCost({ model: "m", pairs: 40, max_usd: 0.08 })).toBe(" (at most $0.08 for m)");
  expect(judgeCost({ model: "m", pairs: 1, max_usd: 0.001 })).toBe(" (at most <$0.01 for m)");
  expect(judgeCost({ model: "m", pairs: 1, max_usd: undefined })).toContain("price unknown");
  expect(judgeCost({ model: "m", pairs: 0, max_usd: 0 })).toBe("");
  expect(judgeCost(undefined)).toBe("");
});
