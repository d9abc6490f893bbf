/** Reads the statistics of the poll queues through the pg-boss API. */

import type { Database } from "../../store/database.ts";
import { importPgBoss, isPollQueue, keyOf, SCHEMA } from "./boss-engine.ts";

export interface QueueCounts {
  name: string;
  /** Not due yet. */
  deferred: number;
  /** Due, but not fetched by a worker. */
  ready: number;
  active: number;
  failed: number;
}

interface WaitingPoll {
  taskId: string;
  /** Identifies the API key that the poll needs; undefined when any key will do. */
  key: string | undefined;
  dueAt: number;
  /** When the previous poll was finished. */
  scheduledAt: number;
}

export interface QueueStats {
  queues: QueueCounts[];
  /** Jobs that no worker has fetched; undefined when there are too many to read. */
  waiting: WaitingPoll[] | undefined;
}

/** Reading more jobs would cost more than making the polls. */
const MAX_READ_JOBS = 50_000;

/** Works without any polling process. pg-boss stores the counts, so the database must be writable. */
export async function readQueueStats(db: Database): Promise<QueueStats> {
  const { PgBoss, fromKysely } = await importPgBoss();
  const boss = new PgBoss({ db: fromKysely(db), schema: SCHEMA, migrate: false, supervise: false, schedule: false });
  // Without a listener an error event would end the process.
  boss.on("error", () => {});
  if (!(await boss.isInstalled())) return { queues: [], waiting: [] };
  await boss.start();
  try {
    const names = (await boss.getQueues()).map(({ name }) => name).filter(isPollQueue);
    // Workers update the counts every few seconds; `force` updates them when there are none.
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
