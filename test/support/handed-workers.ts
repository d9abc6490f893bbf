/** Workers without their looks: what they take, keep, claim and give back, on a real database. */

import { randomUUID } from "node:crypto";
import { expect, onTestFinished } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { createLog } from "../../src/platform/log.ts";
import { thisProcess } from "../../src/platform/process-identity.ts";
import { openDistributedQueue } from "../../src/queue/distributed.ts";
import type { RunQueue } from "../../src/queue/queue.ts";
import { claimDueRuns } from "../../src/runs/claim-store.ts";
import { createHanding } from "../../src/runs/handing.ts";
import type { Database } from "../../src/store/database.ts";
import { hostHere } from "../../src/store/dialect.ts";
import { registerProcess } from "../../src/store/processes.ts";
import { insertRun } from "./store-rows.ts";
import { waitFor } from "./wait-for.ts";

const log = createLog({ from: "ERROR", format: "text", redact: (text) => text, write: () => {} });
/** By how much the clock of these workers is ahead. */
let ahead = 0;

export const setAhead = (ms: number): void => void (ahead = ms);
/** True times otherwise, and no pauses worth mentioning. */
export const clock = {
  now: () => systemClock.now() + ahead,
  monotonic: systemClock.monotonic,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 50, signal),
};

export async function openDistributed(db: Database): Promise<RunQueue> {
  const queue = await openDistributedQueue({ db, log });
  onTestFinished(() => queue.close());
  return queue;
}

interface WorkerOptions {
  mostFollowed?: number;
  /** Another machine, of which nobody here can tell whether it is alive. */
  host?: string;
}

export async function startWorker(db: Database, queue: RunQueue, options: WorkerOptions = {}) {
  const processId = randomUUID();
  const leaving = new AbortController();
  await registerProcess(db, { ...thisProcess(), processId, host: options.host ?? hostHere(db) }, clock.now());
  const handing = createHanding({
    deps: { db, processId, clock, log, leaving: leaving.signal },
    queue,
    mostFollowed: options.mostFollowed ?? 100,
    wake: () => {},
  });
  const following = queue.hands ? handing.follow() : Promise.resolve();
  const leave = async (): Promise<void> => {
    leaving.abort();
    await following;
  };
  onTestFinished(leave);
  const handedTo = queue.hands ? processId : undefined;
  return {
    processId,
    leave,
    sweep: handing.sweep,
    /** Without waiting for the turn that all have together. */
    sweepNow: async () => {
      await db.deleteFrom("pace").where("name", "=", "sweep").execute();
      await handing.sweep();
    },
    claim: (now = clock.now()) =>
      claimDueRuns(db, { processId, limit: 50, now, nextPollAt: now + 10_000, among: { handedTo } }),
  };
}

type Worker = Awaited<ReturnType<typeof startWorker>>;

/** In the state in which Google works on them; one after the other is due. */
export async function insertRuns(db: Database, count: number): Promise<string[]> {
  const taskIds = Array.from({ length: count }, () => randomUUID());
  for (const [n, task_id] of taskIds.entries()) await insertRun(db, { task_id, next_poll_at: n });
  return taskIds;
}

/** What these get in the time it takes until all have been claimed. */
export async function untilClaimed(workers: Worker[], count: number): Promise<string[][]> {
  const claimed = workers.map((): string[] => []);
  await waitFor(async () => {
    for (const [n, worker] of workers.entries()) {
      await worker.sweepNow();
      claimed[n]?.push(...(await worker.claim()).map(({ taskId }) => taskId));
    }
    expect(claimed.flat()).toHaveLength(count);
  });
  return claimed;
}
