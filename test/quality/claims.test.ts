/** Floors of what `bench/run.ts citations` and `bench/run.ts verdicts` measure on the data in the repository. */

import { expect, test } from "vitest";
import { citationCounts } from "../../bench/claims/citations.ts";
import { readPairs } from "../../bench/claims/labelled-pairs.ts";
import { OWN_PAIRS, verdictCounts } from "../../bench/claims/verdicts.ts";
import { share } from "../../bench/wilson.ts";

test("citations of six styles in four languages are attributed to the right claims (W1)", () => {
  const { groups, all } = citationCounts();
  expect(groups.size).toBe(24);
  expect(all.meant).toBeGreaterThan(200);
  expect(all.right / all.found).toBeGreaterThanOrEqual(0.97);
  expect(all.right / all.meant).toBeGreaterThanOrEqual(0.97);
  for (const { right, meant } of groups.values()) expect(right / meant).toBeGreaterThanOrEqual(0.8);
});

test.for(["labelled-pairs", "held-out-pairs-1", "held-out-pairs-2"])(
  "the comparison without a model accepts no false claim, accuses none and confirms literal ones: %s (W2)",
  (name) => {
    const counts = verdictCounts(readPairs(OWN_PAIRS.replace("labelled-pairs", name)));
    expect(counts.bad).toBeGreaterThan(60);
    expect(counts).toMatchObject({ falseAccepts: 0, accused: 0 });
    expect(counts.recalled / counts.supported).toBeGreaterThanOrEqual(0.18);
  },
);

test("a share is printed with its Wilson interval (W2)", () => {
  expect(share(0, 46)).toBe("0 of 46, 0.0 % (0.0–7.7)");
});
