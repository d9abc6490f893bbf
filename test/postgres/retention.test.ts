/** Several processes delete expired runs of one PostgreSQL. */

import { expect, test } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { deleteExpiredRuns } from "../../src/runs/deletion/retention.ts";
import { tryLockExclusive } from "../../src/store/dialect.ts";
import { insertRun, openDatabase } from "../kit/store/store-rows.ts";
import { silentLog as log } from "../kit/log.ts";

const DAY_MS = 86_400_000;
const NOW = 1_000 * DAY_MS;
const OLD = NOW - 40 * DAY_MS;
const EXPIRED = { status: "completed", completed_at: OLD, updated_at: OLD };
const clock = { ...systemClock, now: () => NOW, sleep: async () => {} };
const leaving = new AbortController().signal;

test("one of several processes at a time deletes expired runs (T-2, P7)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "newest", updated_at: NOW });
  for (const n of [1, 2, 3]) await insertRun(db, { ...EXPIRED, task_id: `old-${n}` });
  const sweep = () => deleteExpiredRuns({ db, clock, log, removeBackups: async () => {}, keepDays: 30, leaving });
  await db.transaction().execute(async (transaction) => {
    expect(await tryLockExclusive(transaction, "retention")).toBe(true);
    expect(await sweep()).toBe(0);
  });
  // A run that another transaction is changing is skipped until the next time, without waiting.
  await db.transaction().execute(async (transaction) => {
    await transaction.updateTable("research_tasks").set({ progress: 1 }).where("task_id", "=", "old-2").execute();
    expect(await sweep()).toBe(2);
  });
  expect(await sweep()).toBe(1);
});
