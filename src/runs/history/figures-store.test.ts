import { expect, test } from "vitest";
import { insertCost, insertRun, openDatabase } from "../../../test/kit/store/store-rows.ts";
import { readUsage } from "./figures-store.ts";

const NOW = Date.parse("2026-11-16T09:00:00Z");
const MINUTE_MS = 60_000;

test("usage is summed by day, month and kind of the finished runs of one owner (P6)", async () => {
  const db = await openDatabase();
  const run = async (end: string, minutes: number, more: Partial<Parameters<typeof insertRun>[1]> = {}) => {
    const completed_at = Date.parse(end);
    const started_at = completed_at - minutes * MINUTE_MS;
    const times = { created_at: started_at, started_at, completed_at };
    await insertRun(db, { task_id: end, kind: "agent", status: "completed", ...times, cost_usd: 1.5, ...more });
  };
  await run("2026-11-16T00:01:00Z", 8);
  await run("2026-11-15T23:59:00Z", 4, { cost_usd: 0.5 });
  await run("2026-11-15T12:00:00Z", 1, { status: "failed", cost_usd: 0 });
  await run("2026-11-15T11:00:00Z", 0.5, { followup_context: "stored_report", cost_usd: 0.1 });
  await run("2026-10-31T23:00:00Z", 0.2, { kind: "search", cost_usd: 0.01, cost_estimated: 1 });
  await run("2026-09-01T00:00:00Z", 6, { cost_usd: null });
  await run("2024-09-01T00:00:00Z", 6, { cost_usd: 9 });
  await run("2026-11-14T00:00:00Z", 6, { owner: "ben" });
  await insertRun(db, { task_id: "unfinished", status: "running", cost_usd: 0.2 });

  const { days, ...usage } = await readUsage(db, "local", NOW);
  expect(usage).toEqual({
    total_runs: 8,
    unfinished_runs: 1,
    total_cost_usd: 11.31,
    cost_incomplete: true,
    cost_estimated: true,
    months: [
      { month: "2026-11", runs: 4, cost_usd: 2.1, average_minutes: 4.17 },
      { month: "2026-10", runs: 1, cost_usd: 0.01, cost_estimated: true, average_minutes: 0.2 },
      { month: "2026-09", runs: 1, cost_usd: 0, cost_incomplete: true, average_minutes: 6 },
    ],
    kinds: [
      { kind: "agent", runs: 4, cost_usd: 2, cost_incomplete: true, average_minutes: 6 },
      { kind: "followup", runs: 1, cost_usd: 0.1, average_minutes: 0.5 },
      { kind: "search", runs: 1, cost_usd: 0.01, cost_estimated: true, average_minutes: 0.2 },
    ],
  });
  expect(days).toHaveLength(30);
  expect(days.slice(-3)).toEqual([
    { day: "2026-11-14", runs: 0, cost_usd: 0 },
    { day: "2026-11-15", runs: 3, cost_usd: 0.6, average_minutes: 2.25 },
    { day: "2026-11-16", runs: 1, cost_usd: 1.5, average_minutes: 8 },
  ]);
});

test("what judges have cost is in the figures, unpriced requests marked (W3)", async () => {
  const db = await openDatabase();
  const run = { status: "completed", cost_usd: 1, completed_at: NOW } as const;
  await insertRun(db, { ...run, task_id: "priced" });
  const cost = { usd: 0.25, incomplete: false, estimated: false };
  await insertCost(db, { task_id: "priced", kind: "judge", cost });
  expect(await readUsage(db, "local", NOW)).toMatchObject({
    total_cost_usd: 1.25,
    judge_cost_usd: 0.25,
    months: [{ cost_usd: 1.25 }],
  });
  await insertRun(db, { ...run, task_id: "unpriced" });
  await insertCost(db, { task_id: "unpriced", kind: "judge" });
  expect(await readUsage(db, "local", NOW)).toMatchObject({
    total_cost_usd: 2.25,
    cost_incomplete: true,
    months: [{ cost_usd: 2.25, cost_incomplete: true }],
  });
});
