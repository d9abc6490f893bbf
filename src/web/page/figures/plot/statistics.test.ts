/** The figures computed from finished runs. */

import { expect, test } from "vitest";
import type { FinishedRun } from "../../../wire-figures.ts";
import {
  accuracyOf,
  comparedRuns,
  filterRuns,
  median,
  monthLine,
  monthTotals,
  nearestMark,
  percent,
  spentOn,
  summariesByKind,
  totalCost,
} from "./statistics.ts";

const run = (rest: Partial<FinishedRun> = {}): FinishedRun => ({
  task_id: "t",
  kind: "agent",
  query: "q",
  status: "completed",
  completed_at: "2026-03-15T12:00:00.000Z",
  duration_minutes: 10,
  ...rest,
});

test("a median is the middle value, or between the two in the middle, or nothing", () => {
  expect(median([])).toBeUndefined();
  expect(median([3])).toBe(3);
  expect(median([9, 1, 3])).toBe(3);
  expect(median([10, 1, 2, 3])).toBe(2.5);
});

test("runs are filtered by kind and by the time since they ended", () => {
  const runs = [run({ completed_at: "2025-01-10T00:00:00Z" }), run(), run({ kind: "search" })];
  const now = Date.parse("2026-03-20T00:00:00Z");
  expect(filterRuns(runs, { kind: "all", period: "all" }, now)).toHaveLength(3);
  expect(filterRuns(runs, { kind: "agent", period: "all" }, now)).toHaveLength(2);
  expect(filterRuns(runs, { kind: "agent", period: "month" }, now)).toHaveLength(1);
  expect(filterRuns(runs, { kind: "all", period: "month" }, now + 40 * 86_400_000)).toHaveLength(0);
});

test("medians are of complete runs, totals of all runs", () => {
  const runs = [
    run({ cost_usd: 2, duration_minutes: 10 }),
    run({ cost_usd: 4, duration_minutes: 20 }),
    run({ cost_usd: 0.5, duration_minutes: 1, status: "cancelled" }),
    run({ kind: "search", duration_minutes: 0.1 }),
  ];
  expect(summariesByKind(runs)).toEqual([
    { kind: "agent", runs: 3, cost: 6.5, medianCost: 3, medianMinutes: 15 },
    { kind: "search", runs: 1, cost: 0, medianCost: undefined, medianMinutes: 0.1 },
  ]);
  expect(totalCost(runs)).toBe(6.5);
  const judged = [run({ judge_cost_usd: 0.25 }), run({ cost_usd: 1, judge_cost_usd: 0.5 })];
  expect([judged.map(spentOn), totalCost(judged), monthTotals(judged)]).toEqual([[0.25, 1.5], 1.75, [0.25, 1.75]]);
});

test("a monthly total restarts with the month", () => {
  const runs = [
    run({ completed_at: "2026-03-10T12:00:00Z", cost_usd: 1 }),
    run({ completed_at: "2026-03-20T12:00:00Z", cost_usd: 2 }),
    run({ completed_at: "2026-03-21T12:00:00Z" }),
    run({ completed_at: "2026-04-10T12:00:00Z", cost_usd: 4 }),
    run({ completed_at: "2027-04-10T12:00:00Z", cost_usd: 8 }),
  ];
  expect(monthTotals(runs)).toEqual([1, 3, 3, 4, 8]);
  const line = monthLine(runs);
  expect(line.map(({ total }) => total)).toEqual([1, 3, 3, 0, 4, 0, 8]);
  expect(line.map(({ x }) => x)).toEqual(line.map(({ x }) => x).toSorted((one, other) => one - other));
});

test("an estimate is judged by complete runs of known cost, limits included", () => {
  const estimated_usd = { min: 1, likely: 2, max: 5 };
  const runs = [
    run({ estimated_usd, cost_usd: 5 }),
    run({ estimated_usd, cost_usd: 2.2 }),
    run({ estimated_usd, cost_usd: 5.01 }),
    run({ estimated_usd: { ...estimated_usd, likely: 1.5 }, cost_usd: 1 }),
    run({ estimated_usd, cost_usd: 0.1, status: "cancelled" }),
    run({ estimated_usd }),
    run({ cost_usd: 2 }),
  ];
  const compared = comparedRuns(runs);
  expect(compared.map(({ likely, actual }) => [likely, actual])).toEqual([
    [1.5, 1],
    [2, 5],
    [2, 2.2],
    [2, 5.01],
  ]);
  expect(accuracyOf(compared)).toEqual({ compared: 4, withinRange: 3, withinTenth: 1 });
  expect(percent(3, 4)).toBe("75 %");
  expect(percent(0, 0)).toBe("–");
});

test("the nearest mark is selected, if one is near", () => {
  const marks = [
    { x: 0, y: 0 },
    { x: 10, y: 0 },
    { x: 30, y: 0 },
  ];
  expect(nearestMark(marks, { x: 8, y: 3 }, 12)).toBe(1);
  expect(nearestMark(marks, { x: 20, y: 30 }, 12)).toBeUndefined();
});
