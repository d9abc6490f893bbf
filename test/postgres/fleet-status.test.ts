/** The status of a fleet with real pg-boss jobs: polls that are due or late, and missing keys. */

import { expect, onTestFinished, test } from "vitest";
import { openBossEngine } from "../../src/runs/engine/boss-engine.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { readFleetStatus } from "../../src/runs/scheduling/fleet-status-store.ts";
import { recordHeartbeat } from "../../src/store/processes.ts";
import { openStore } from "../../src/store/store.ts";
import { sharedFor } from "../kit/store/databases.ts";
import { insertRun } from "../kit/store/store-rows.ts";
import { silentLog as log } from "../kit/log.ts";

const KEY = "0123456789abcdef";
const OTHER_KEY = "fedcba9876543210";

test("waiting polls are due, late or scheduled, and runs without a worker for their key are counted (P7)", async () => {
  const shared = await sharedFor();
  const { db, processId, close } = await openStore({
    file: undefined,
    shared,
    clock: systemClock,
    log,
    version: "1.2.3",
  });
  onTestFinished(close);
  const read = () => readFleetStatus(db, Date.now());
  expect(await read()).toMatchObject({ workers: [], runs: { inProgress: 0, due: 0 }, queues: [] });
  const queue = await openBossEngine({ url: shared?.url ?? "", key: KEY, makesPolls: false, log });
  onTestFinished(() => queue.close());
  const polls = { late: -120_000, due: -1_000, scheduled: 60_000 };
  for (const [taskId, afterMs] of Object.entries(polls)) {
    await insertRun(db, { task_id: taskId, next_poll_at: 1, poll_key: KEY });
    await queue.schedule(db, [{ taskId, key: KEY, afterMs }]);
  }
  const { runs, queues } = await read();
  expect(runs).toMatchObject({ inProgress: 3, withoutKey: 3, due: 2, late: 1, oldest: { taskId: "late" } });
  expect(runs.oldestDueMs).toBeGreaterThan(119_000);
  expect(runs.oldestDueMs).toBeLessThan(180_000);
  expect(queues).toEqual([{ name: `poll-${KEY}`, deferred: 1, ready: 2, active: 0, failed: 0 }]);
  await recordHeartbeat(db, processId, { key: KEY, polls: "[]", now: Date.now() });
  const after = await read();
  expect(after.runs.withoutKey).toBe(0);
  expect(after.workers).toMatchObject([{ pid: process.pid, version: "1.2.3", responds: true, key: KEY }]);
  expect(after.workers[0]?.host).not.toContain(" ");
});

test("a poll without a worker for its key is counted as missing its key, not as late (P7)", async () => {
  const shared = await sharedFor();
  const opened = await openStore({ file: undefined, shared, clock: systemClock, log, version: "1.2.3" });
  const { db, processId } = opened;
  onTestFinished(opened.close);
  const queue = await openBossEngine({ url: shared?.url ?? "", key: KEY, makesPolls: false, log });
  onTestFinished(() => queue.close());
  await recordHeartbeat(db, processId, { key: KEY, polls: "[]", now: Date.now() });
  for (const [taskId, status] of [
    ["running", "running_async"],
    ["failed-at-deadline", "failed"],
  ] as const) {
    await insertRun(db, { task_id: taskId, status, next_poll_at: 1, poll_key: OTHER_KEY });
    await queue.schedule(db, [{ taskId, key: OTHER_KEY, afterMs: -120_000 }]);
  }
  const { runs } = await readFleetStatus(db, Date.now());
  expect(runs).toMatchObject({ inProgress: 1, withoutKey: 1, due: 0, late: 0, oldestDueMs: 0 });
  expect(runs.oldest).toBeUndefined();
});
