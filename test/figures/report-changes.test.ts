/** The comparison of two reports on 50 pairs with known changes, whose result BENCHMARKS.md shows. */

import { expect, test } from "vitest";
import { measureChanges } from "../../bench/claims/report-changes.ts";

test("of the known changes at least nine in ten are listed, and of the other sentences at most one in twenty (W11)", async () => {
  const measured = await measureChanges();
  const { unchanged, ...changes } = Object.fromEntries(measured.map((row) => [row.kind, row]));
  const all = Object.values(changes);
  const sum = (count: (row: { of: number; found: number }) => number): number =>
    all.reduce((total, row) => total + count(row), 0);
  expect(all.map(({ of }) => of).filter((of) => of < 20)).toEqual([]);
  expect(sum(({ found }) => found)).toBeGreaterThanOrEqual(0.9 * sum(({ of }) => of));
  expect(unchanged?.of).toBeGreaterThan(500);
  expect(unchanged?.found).toBeLessThanOrEqual(0.05 * (unchanged?.of ?? 0));
});
