/** The numbers of the queues of polls, through the job engine's own API. */

import type { Database } from "../store/database.ts";
import { importEngine, isPollQueue, keyOf, SCHEMA } from "./distributed.ts";

export interface QueueCounts {
  name: string;
  /** Not due yet. */
  deferred: number;
  /** Due, and not taken by a worker. */
  ready: number;
  active: number;
  failed: number;
}

interface WaitingPoll {
  taskId: string;
  /** Fingerprint of the API key that it needs; undefined when any will do. */
  key: string | undefined;
  dueAt: number;
  /** When the poll before it was settled. */
  scheduledAt: number;
}

export interface QueueStats {
  queues: QueueCounts[];
  /** All that no worker has taken; undefined where there are too many to read. */
  waiting: WaitingPoll[] | undefined;
}

/** Beyond that, reading every job would be more work than making the polls. */
const MAX_READ_JOBS = 50_000;

/** Needs no process that polls. The engine keeps the counts it makes for this: the database must take writes. */
export async function readQueueStats(db: Database): Promise<QueueStats> {
  const { PgBoss, fromKysely } = await importEngine();
  const boss = new PgBoss({ db: fromKysely(db), schema: SCHEMA, migrate: false, supervise: false, schedule: false });
  // Without a listener it would end the process.
  boss.on("error", () => {});
  if (!(await boss.isInstalled())) return { queues: [], waiting: [] };
  await boss.start();
  try {
    const names = (await boss.getQueues()).map(({ name }) => name).filter(isPollQueue);
    // Workers count every few seconds; without any, the engine counts now.
    const stats = await Promise.all(names.map((name) => boss.getQueueStats(name, { force: true })));
    const queues = stats.flat().map((queue) => ({
      name: queue.name,
      deferred: queue.deferredCount,
      ready: queue.readyCount,
      active: queue.activeCount,
      failed: queue.failedCount,
    }));
    const waiting = queues.reduce((sum, { deferred, ready }) => sum + deferred + ready, 0);
    if (waiting > MAX_READ_JOBS) return { queues, waiting: undefined };
    const jobs = await Promise.all(names.map((name) => boss.findJobs(name, { queued: true })));
    return {
      queues,
      waiting: jobs.flat().map(({ name, singletonKey, startAfter, createdOn }) => ({
        taskId: singletonKey ?? "",
        key: keyOf(name),
        dueAt: startAfter.getTime(),
        scheduledAt: createdOn.getTime(),
      })),
    };
  } finally {
    await boss.stop({ graceful: false, close: false });
  }
}
