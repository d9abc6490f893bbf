import { expect, test } from "vitest";
import type { FinishedRun } from "../../wire-figures.ts";
import { usageByDay, usageByMonth } from "./usage.ts";

const NOW = new Date(2026, 10, 16, 9);

const run = (completed: Date, cost_usd?: number): FinishedRun => ({
  task_id: "t",
  kind: "search",
  query: "What?",
  status: "completed",
  completed_at: completed.toISOString(),
  duration_minutes: 1,
  ...(cost_usd === undefined ? {} : { cost_usd }),
});

test("usage by day has the last two weeks, with days without a run, by the local midnight", () => {
  const runs = [
    run(new Date(2026, 10, 16, 0, 1), 1),
    run(new Date(2026, 10, 15, 23, 59), 2),
    run(new Date(2026, 10, 15), 0.5),
    run(new Date(2026, 10, 1), 9),
  ];
  const days = usageByDay(runs, NOW);
  expect(days).toHaveLength(14);
  expect(days.slice(0, 3)).toEqual([
    { name: "Mon, Nov 16", runs: 1, cost: 1 },
    { name: "Sun, Nov 15", runs: 2, cost: 2.5 },
    { name: "Sat, Nov 14", runs: 0, cost: 0 },
  ]);
  expect(days.at(-1)?.name).toBe("Tue, Nov 3");
});

test("usage by month begins with the oldest run and has at most a year; unknown costs count as runs", () => {
  const runs = [run(new Date(2026, 8, 30, 23), 3), run(new Date(2026, 10, 2))];
  expect(usageByMonth(runs, NOW)).toEqual([
    { name: "November 2026", runs: 1, cost: 0 },
    { name: "October 2026", runs: 0, cost: 0 },
    { name: "September 2026", runs: 1, cost: 3 },
  ]);
  expect(usageByMonth([run(new Date(2020, 0, 1), 1)], NOW)).toHaveLength(12);
});
