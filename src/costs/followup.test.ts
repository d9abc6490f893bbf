import { expect, test } from "vitest";
import { estimateFollowup } from "./estimate.ts";
import { LIST_PRICES } from "./prices.ts";

const now = Date.parse("2026-11-16");
const estimate = (characters: number, model = "gemini-3.1-pro-preview") =>
  estimateFollowup({ characters, model, prices: LIST_PRICES, now });

test("a follow-up costs cents, more for a longer context, and is unknown without a price (V1)", () => {
  const short = estimate(4_000);
  // 1,000 tokens of context at $2 and 500 of the answer at $12 per million, no search.
  expect(short?.usd.min).toBe(0.008);
  expect(short?.usd.likely).toBeLessThan(0.1);
  const long = estimate(200_000);
  expect(long?.usd.likely).toBeGreaterThan((short?.usd.likely ?? 0) + 0.1);
  expect(estimate(4_000, "another-model")).toBeUndefined();
});
