import { expect, test } from "vitest";
import { estimateResearchCost } from "./estimate-research-cost.ts";

const ANSWER = {
  success: true,
  query_complexity: "simple" as const,
  estimated_duration: { min_minutes: 1, max_minutes: 1, likely_minutes: 1 },
  estimated_cost: { min_usd: 1, max_usd: 3, likely_usd: 2 },
  will_likely_go_async: true,
  recommendation: "Start it.",
  based_on_runs: 9,
  prices_as_of: "2026-11-01",
  model: "deep-research",
};

test("an estimate with equal bounds has no range in its text (M1)", () => {
  expect(estimateResearchCost.toText?.(ANSWER)).toContain("About $2 (from $1 to $3), in about 1 min.\n");
});
