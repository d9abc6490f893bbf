/**
 * Across machines pg-boss hands out the runs, on the database that holds them: one job per run, under the run's id.
 * The truth stays in the table of runs. A job that comes twice, late or never costs time, and nothing else.
 */

import { CompiledQuery } from "kysely";
import type { ConnectionOptions, PgBoss } from "pg-boss";
import { AppError } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "../store/database.ts";
import { alone } from "../store/dialect.ts";
import type { FollowedRuns, Offered, Repaired, RunQueue } from "./queue.ts";

/** Beside our tables, not among them: the engine has migrations of its own. */
const SCHEMA = "gemini_search_jobs";
const JOBS = "runs";
/** Later than a silent worker's runs are taken back, which also ends its looks: the engine alone would leave them. */
const HEARTBEAT_SECONDS = 40;
/** A job is handed on as often as holders die, and never given up. */
const MOST_RETRIES = 2 ** 31 - 1;
const NOBODY = "00000000-0000-0000-0000-000000000000";
/** Of ids in one statement. */
const CHUNK = 1_000;

export interface DistributedQueue extends RunQueue {
  close(): Promise<void>;
}

export async function openDistributedQueue({ db, log }: { db: Database; log: Log }): Promise<DistributedQueue> {
  const { PgBoss: Boss } = await importEngine();
  // Its timers stay off: what they would do, the sweep does, once for the whole fleet.
  const boss = new Boss({ db: on(db), schema: SCHEMA, supervise: false, schedule: false, reindex: false });
  // Without a listener it would end the process.
  boss.on("error", () => log.debug("The engine that hands out runs had a fault; it is tried again."));
  // One process at a time: of several that make the engine's tables at once, all but one would fail.
  await db.transaction().execute(async (transaction) => {
    await alone(transaction, "engine");
    await boss.start();
    await boss.createQueue(JOBS, {
      heartbeatSeconds: HEARTBEAT_SECONDS,
      retryLimit: MOST_RETRIES,
      retryDelay: 0,
      retentionSeconds: 365 * 24 * 3_600,
    });
  });
  // It asks once what this queue is like, on a connection of its own. Later, in as many transactions at once as there
  // are connections, each would wait for one more.
  await boss.findJobs(JOBS, { id: NOBODY });
  return {
    hands: true,
    offer: (transaction, runs) => offer(boss, transaction, runs),
    take: async (transaction, most) => {
      const jobs = await boss.fetch(JOBS, { batchSize: most, db: on(transaction) });
      return jobs.map(({ id }) => id);
    },
    keep: (taskIds) => inChunks(taskIds, (ids) => boss.touch(JOBS, ids)),
    giveBack: (transaction, taskIds) => giveBack(boss, transaction, taskIds),
    repair: (transaction, followed) => repair(boss, transaction, followed),
    close: () => boss.stop({ graceful: false, close: false }),
  };
}

/** Optional: who keeps the state in a file does not install it. */
async function importEngine(): Promise<typeof import("pg-boss")> {
  try {
    return await import("pg-boss");
  } catch (error) {
    throw new AppError({
      code: "SQLITE_ERROR",
      message: "GEMINI_SEARCH_DATABASE_URL is set, but pg-boss, which hands out the runs, is not installed.",
      suggestion: "Install it beside gemini-search-mcp: npm install pg pg-boss",
      cause: error,
    });
  }
}

/** The engine speaks through our connections, and inside our transactions. */
const on = (db: Database): NonNullable<ConnectionOptions["db"]> => ({
  executeSql: async (text, values) => {
    const { rows } = await db.executeQuery(CompiledQuery.raw(text, values ?? []));
    return { rows: [...rows] };
  },
});

const offer = (boss: PgBoss, transaction: Database, runs: Offered[]): Promise<void> =>
  inChunks(runs, (some) =>
    boss.insert(
      JOBS,
      some.map(({ taskId, owner }) => ({ id: taskId, group: { id: owner } })),
      { db: on(transaction) },
    ),
  );

/** To the engine a failure, after which the job is there for the next at once. */
const giveBack = (boss: PgBoss, transaction: Database, taskIds: string[]): Promise<void> =>
  inChunks(taskIds, (ids) => boss.fail(JOBS, ids, null, { db: on(transaction) }));

async function repair(boss: PgBoss, transaction: Database, followed: FollowedRuns): Promise<Repaired> {
  const { sql, parameters } = followed.compile();
  const ask = async <Row>(text: string): Promise<Row[]> =>
    (await transaction.executeQuery<Row>(CompiledQuery.raw(text, [...parameters]))).rows;
  const jobs = `${SCHEMA}.job as job`;
  const isOurs = `job.name = '${JOBS}'`;
  const same = "job.id::text = followed.task_id";
  // Also what somebody ended by hand: under its id nothing could be offered again.
  const stray = await ask<{ id: string }>(
    `with followed as (${sql}) select job.id from ${jobs} where ${isOurs}
      and (job.state > 'active' or not exists (select 1 from followed where ${same}))`,
  );
  const ids = stray.map(({ id }) => id);
  await inChunks(ids, (some) => boss.deleteJob(JOBS, some, { db: on(transaction) }));
  const missing = await ask<{ task_id: string; owner: string }>(
    `with followed as (${sql}) select task_id, owner from followed
      where not exists (select 1 from ${jobs} where ${isOurs} and ${same})`,
  );
  await offer(
    boss,
    transaction,
    missing.map(({ task_id, owner }) => ({ taskId: task_id, owner })),
  );
  const silent = await transaction.executeQuery<{ id: string }>(
    CompiledQuery.raw(`select job.id from ${jobs} where ${isOurs} and job.state = 'active'
      and job.heartbeat_on < now() - job.heartbeat_seconds * interval '1 second'`),
  );
  const lost = silent.rows.map(({ id }) => id);
  await giveBack(boss, transaction, lost);
  return { offered: missing.length, dropped: ids.length, silent: lost.length };
}

async function inChunks<T>(all: readonly T[], work: (some: T[]) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < all.length; at += CHUNK) await work(all.slice(at, at + CHUNK));
}
