/** Floors of what `bench/run.ts citations` and `bench/run.ts verdicts` measure on the data in the repository. */

import { expect, test } from "vitest";
import { citationCounts } from "../../bench/claims/citations.ts";
import { OWN_SETS, ownSet, verdictCounts } from "../../bench/claims/verdicts.ts";
import { share } from "../../bench/wilson.ts";

test("citations of six styles in four languages are attributed to the right claims (W1)", () => {
  const { groups, all } = citationCounts();
  expect(groups.size).toBe(24);
  expect(all.meant).toBeGreaterThan(200);
  expect(all.right / all.found).toBeGreaterThanOrEqual(0.97);
  expect(all.right / all.meant).toBeGreaterThanOrEqual(0.97);
  for (const { right, meant } of groups.values()) expect(right / meant).toBeGreaterThanOrEqual(0.8);
});

test.for(OWN_SETS)(
  "the comparison without a model confirms no false claim, confirms literal ones, and accuses hardly any: %s (W2)",
  (name) => {
    const counts = verdictCounts(ownSet(name).claims);
    expect(counts.notSaid).toBeGreaterThan(50);
    expect(counts.wronglyConfirmed).toBe(0);
    expect(counts.wronglyInConflict).toBeLessThanOrEqual(1);
    expect(counts.confirmed / counts.said).toBeGreaterThanOrEqual(0.16);
  },
);

test("a share is printed with its Wilson interval (W2)", () => {
  expect(share(0, 46)).toBe("0 of 46, 0.0 % (0.0–7.7)");
});
