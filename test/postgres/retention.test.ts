/** Several processes delete expired runs of one PostgreSQL. */

import { expect, test } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { deleteExpiredRuns } from "../../src/runs/deletion/retention.ts";
import { insertRun, openDatabase } from "../kit/store/store-rows.ts";
import { silentLog as log } from "../kit/log.ts";

const DAY_MS = 86_400_000;
const NOW = 1_000 * DAY_MS;
const OLD = NOW - 40 * DAY_MS;
const EXPIRED = { status: "completed", completed_at: OLD, updated_at: OLD };
const clock = { ...systemClock, now: () => NOW, sleep: async () => {} };
const leaving = new AbortController().signal;

test("several processes delete expired runs at the same time, each run once (T-2, P7)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "newest", updated_at: NOW });
  for (const n of [1, 2, 3]) await insertRun(db, { ...EXPIRED, task_id: `old-${n}` });
  const removed: string[] = [];
  const removeBackups = async (taskIds: ReadonlySet<string>): Promise<void> => void removed.push(...taskIds);
  const sweep = () => deleteExpiredRuns({ db, clock, log, removeBackups, keepDays: 30, leaving });
  await Promise.all([sweep(), sweep(), sweep()]);
  expect(removed.toSorted()).toEqual(["old-1", "old-2", "old-3"]);
  expect(await sweep()).toBe(0);
});
