/** The replay of recorded and simulated runs, whose result docs/costs.md and BENCHMARKS.md show. */

import { expect, test } from "vitest";
import { estimates } from "../../bench/estimates.ts";

test("the range of an estimate holds for about four in five runs, and whether it is within 10 % is stated (M2, SC-004)", async () => {
  const { passed, rows } = await estimates();
  expect(passed).toBe(true);
  expect(rows.at(-1)?.[0]).toContain("SC-004");
  expect(rows.at(-1)?.at(-1)).toMatch(/^(?:met|\*\*missed\*\*: .+)$/);
});
