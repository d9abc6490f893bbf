/** The comparison of two reports on 50 pairs with known changes, whose result BENCHMARKS.md shows. */

import { expect, test } from "vitest";
import { measureChanges } from "../../bench/claims/report-changes.ts";

test("of the known changes at least nine in ten are listed, and of the other sentences at most one in twenty (W11)", async () => {
  const measured = await measureChanges();
  const first = measured.findIndex(({ kind }) => kind === "unchanged");
  const [changes, others] = [measured.slice(0, first), measured.slice(first)];
  const sum = (rows: typeof measured, count: (row: { of: number; found: number }) => number): number =>
    rows.reduce((total, row) => total + count(row), 0);
  expect(changes.map(({ of }) => of).filter((of) => of < 20)).toEqual([]);
  expect(sum(changes, ({ found }) => found)).toBeGreaterThanOrEqual(0.9 * sum(changes, ({ of }) => of));
  // Unchanged, and in other words.
  for (const rows of [others.slice(0, 1), others.slice(1)]) {
    const of = sum(rows, (row) => row.of);
    expect(of).toBeGreaterThan(500);
    expect(sum(rows, ({ found }) => found)).toBeLessThanOrEqual(0.05 * of);
  }
});
