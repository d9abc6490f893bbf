/** Who follows a run, with an engine that hands them out and without: the same promises, tried on a real database. */

import { describe, expect, test } from "vitest";
import { onPostgres } from "../../test/support/databases.ts";
import { clock, insertRuns, openDistributed, startWorker, untilClaimed } from "../../test/support/handed-workers.ts";
import { openDatabase, rowOf } from "../../test/support/store-rows.ts";
import { localQueue } from "../queue/local.ts";
import type { RunQueue } from "../queue/queue.ts";
import type { Database } from "../store/database.ts";
import { finishAgentRun } from "./follow-store.ts";
import { handRuns, runsHandedTo } from "./handed-store.ts";
import { LOOK_LEASE_MS } from "./lease.ts";

const QUEUES: [string, (db: Database) => Promise<RunQueue>][] = [
  ["the table of runs as the queue", async () => localQueue],
  ...(onPostgres ? [["an engine", openDistributed] satisfies [string, unknown]] : []),
];

describe.each(QUEUES)("with %s", (_name, openQueue) => {
  test("P2 every run that is due is looked at by one of several, whoever offered it or forgot to", async () => {
    const db = await openDatabase();
    const queue = await openQueue(db);
    const taskIds = await insertRuns(db, 40);
    const workers = [await startWorker(db, queue), await startWorker(db, queue)];
    expect((await untilClaimed(workers, 40)).flat().toSorted()).toEqual(taskIds.toSorted());
  });

  test("P2 what a worker had when it left, another gets", async () => {
    const db = await openDatabase();
    const queue = await openQueue(db);
    const taskIds = await insertRuns(db, 5);
    const first = await startWorker(db, queue);
    await untilClaimed([first], 5);
    await first.leave();
    expect(await runsHandedTo(db, first.processId)).toEqual([]);
    await db.updateTable("research_tasks").set({ next_poll_at: 0, lease_until: null }).execute();
    const second = await startWorker(db, queue);
    expect((await untilClaimed([second], 5)).flat().toSorted()).toEqual(taskIds.toSorted());
  });

  test("P2 a run that two were handed is looked at by one at a time, and the later word counts", async () => {
    const db = await openDatabase();
    const queue = await openQueue(db);
    const [taskId = ""] = await insertRuns(db, 1);
    const [first, second] = [await startWorker(db, queue), await startWorker(db, queue, { mostFollowed: 0 })];
    await untilClaimed([first], 1);
    await handRuns(db, [taskId], second.processId);
    await db.updateTable("research_tasks").set({ next_poll_at: 0 }).execute();
    expect(await second.claim()).toEqual([]);
    const epoch = (await rowOf(db, taskId)).lease_epoch;
    expect(await second.claim(clock.now() + LOOK_LEASE_MS)).toMatchObject([{ taskId, epoch: epoch + 1 }]);
    const finish = {
      to: "completed",
      result: undefined,
      raw: undefined,
      error: undefined,
      tokens: undefined,
      cost: { usd: 1, incomplete: false, estimated: false },
      usageFinal: true,
      nextPollAt: undefined,
      now: clock.now(),
    } as const;
    const run = { taskId, createdAt: 1, keepPartial: true };
    expect(await finishAgentRun(db, { ...finish, run: { ...run, epoch } })).toBe(false);
    expect(await finishAgentRun(db, { ...finish, run: { ...run, epoch: epoch + 1 } })).toBe(true);
  });
});
