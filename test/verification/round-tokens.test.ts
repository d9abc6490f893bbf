/** The tokens of each round with claims to check; `node bench/run.ts rounds` prints them. */

import { expect, test } from "vitest";
import { measureRoundTokens } from "../kit/lies/round-tokens.ts";

test("a round that checks claims costs at most 1.5 times the tokens of one that does not (W4)", async () => {
  const { before, now } = await measureRoundTokens();
  const ratios = now.map((tokens, index) => tokens / (before[index] ?? 0));
  expect(ratios).toHaveLength(5);
  expect(ratios[0]).toBeCloseTo(1, 2);
  expect(Math.max(...ratios)).toBeLessThan(1.5);
  // The list costs something: otherwise nothing was compared.
  expect(Math.max(...ratios)).toBeGreaterThan(1.05);
});
