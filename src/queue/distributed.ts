/** Poll queue for several machines: pg-boss in the PostgreSQL database of the runs, one job per poll. */

import type { JobInsert, PgBoss } from "pg-boss";
import { z } from "zod";
import { AppError } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "../store/database.ts";
import { connectionConfig } from "../store/postgres/postgres.ts";
import { databaseError } from "../store/postgres/driver.ts";
import { createFaultLog, type FaultLog } from "./fault-log.ts";
import type { NextPoll, PollQueue } from "./queue.ts";

/** A poll job that this process has fetched. */
export interface DuePoll {
  taskId: string;
  job: { id: string; retryCount: number };
}

interface PollWorker {
  /** Fetches only polls that need this key. */
  key: string;
  batchSize: number;
  slowBatchSize: number;
  /** Polls these runs and resolves with those whose job it has released. pg-boss retries the others. */
  poll(due: DuePoll[], speed: "quick" | "slow"): Promise<ReadonlySet<string>>;
  /** Resolves with the delay until the next check in ms; undefined when none is needed. */
  checkStart(taskId: string): Promise<number | undefined>;
  /** Runs once a minute, in one of all processes. */
  repair(): Promise<void>;
}

export interface DistributedQueue extends PollQueue {
  readonly usesPgBoss: true;
  work(worker: PollWorker): Promise<void>;
  /** Deletes these jobs in the transaction that stores the results, and returns the runs whose job was still ours. */
  release(transaction: Database, due: DuePoll[]): Promise<Set<string>>;
  /** Waits briefly for polls in flight; pg-boss retries unfinished ones. */
  close(): Promise<void>;
}

export interface DistributedOptions {
  url: string;
  /** The key of this process, used for polls that need no particular key. */
  key: string;
  /** False: this process schedules polls and other processes make them. */
  makesPolls: boolean;
  log: Log;
}

/** A schema of its own, because pg-boss has its own migrations. */
export const SCHEMA = "gemini_search_jobs";
const STARTS = "check-start";
const REPAIR = "repair";
const FAILED = "poll-failed";
/** For the short queries of pg-boss; polls use the connections of the store. */
const CONNECTIONS = 4;
/** Longer than the driver's 10 s: opening a connection costs the database as much as ten fetches. */
const IDLE_CONNECTION_MS = 10 * 60_000;
/** When a process dies or is suspended, its polls in flight are retried after this time. */
const EXPIRE_SECONDS = 15;
/** Covers three requests with two pauses, or one request without a response. */
const SLOW_POLL_EXPIRE_SECONDS = 90;
/** Polls of a dead process are retried after at most the expiry plus this time, which stays below 30 s. */
const SUPERVISE_SECONDS = 8;
/** Start checks and repairs are not urgent, and each fetch costs a query. */
const UPKEEP_SECONDS = 15;
const START_CHECK_BATCH_SIZE = 100;
/** Below all other priorities. Slow polls use the same queue, so that a run never has two polls. */
const SLOW_POLL_PRIORITY = -1_000;
const URGENT_PRIORITY = 100;
const MAX_JOBS_PER_INSERT = 1_000;
const QUERY_MS = 60_000;
const STOP_MS = 2_000;
const NO_JOB = "00000000-0000-0000-0000-000000000000";

const jobData = z.object({ taskId: z.string() });
const released = z.object({ settled: z.array(z.string()).nullish() });

/** Whether polls are pg-boss jobs; otherwise the table of runs is the queue. */
export const isDistributed = (queue: PollQueue): queue is DistributedQueue => queue.usesPgBoss;

const PREFIX = "poll-";
const queueOf = (key: string): string => PREFIX + key;
export const keyOf = (queue: string): string => queue.slice(PREFIX.length);

export const isPollQueue = (name: string): boolean => name.startsWith(PREFIX) && name !== FAILED;

export async function openDistributedQueue(options: DistributedOptions): Promise<DistributedQueue> {
  const { PgBoss: Boss, fromKysely } = await importPgBoss();
  const { key: ownKey } = options;
  const warn = createFaultLog(options.log);
  const boss = new Boss(bossOptions(options));
  // Without a listener an error event would end the process.
  boss.on("error", (error) => warn("The job queue", error));
  const close = (): Promise<void> => boss.stop({ graceful: true, timeout: STOP_MS });
  const queues = await prepareQueues(boss, ownKey).catch(async (error: unknown) => {
    await close().catch(() => undefined);
    throw databaseError(error);
  });
  let wake = (): void => {};
  return {
    usesPgBoss: true,
    schedule: async (db, polls) => {
      for (const [key, ofKey] of Map.groupBy(polls, ({ key: needed }) => needed ?? ownKey)) {
        const name = await queues.ensure(key);
        for (let at = 0; at < ofKey.length; at += MAX_JOBS_PER_INSERT) {
          await boss.insert(name, ofKey.slice(at, at + MAX_JOBS_PER_INSERT).map(jobOf), { db: fromKysely(db) });
        }
      }
    },
    checkStart: async (transaction, start) => {
      await boss.insert(STARTS, [checkOf(start)], { db: fromKysely(transaction) });
    },
    pollNow: async ({ taskId, key }) => {
      const urgent = { singletonKey: taskId, startAfter: 0, priority: URGENT_PRIORITY };
      const { updated } = await boss
        .update(await queues.ensure(key ?? ownKey), undefined, urgent)
        .catch((error: unknown) => Promise.reject(databaseError(error)));
      wake();
      return updated > 0;
    },
    release: async (transaction, due) => {
      const jobs = due.map(({ job }) => job);
      const response = await boss.deleteJob(queueOf(ownKey), jobs, { db: fromKysely(transaction) });
      const ids = new Set(released.parse(response).settled);
      return new Set(due.filter(({ job }) => ids.has(job.id)).map(({ taskId }) => taskId));
    },
    work: async (worker) => {
      const name = await queues.ensure(worker.key);
      // The only step that needs the database comes first: if it fails, no worker is registered and the caller retries.
      await boss.schedule(REPAIR, "* * * * *");
      const watched = withWarnings(worker, warn);
      wake = await workOnPolls(boss, name, watched);
      await workOnUpkeep(boss, watched);
    },
    close,
  };
}

const bossOptions = ({ url, makesPolls }: DistributedOptions) => ({
  ...connectionConfig(url),
  application_name: "gemini-search-mcp jobs",
  // Without a timeout, a response lost by the network would stop polling for good.
  query_timeout: QUERY_MS,
  max: CONNECTIONS,
  idleTimeoutMillis: IDLE_CONNECTION_MS,
  schema: SCHEMA,
  supervise: makesPolls,
  schedule: makesPolls,
  superviseIntervalSeconds: SUPERVISE_SECONDS,
  monitorIntervalSeconds: SUPERVISE_SECONDS,
  maintenanceIntervalSeconds: 300,
  // Its warnings are not used, and its queries are a tenth of the database load of an idle system.
  monitorVacuum: false,
  // One step of a background migration at a time.
  bamIntervalSeconds: 10,
});

/** Returns the function that makes a worker fetch at once. */
async function workOnPolls(boss: PgBoss, name: string, worker: PollWorker): Promise<() => void> {
  const handle = (speed: "quick" | "slow") => async (jobs: FetchedJob[]) => {
    const due = jobs.map(({ id, retryCount, data }) => ({ ...jobData.parse(data), job: { id, retryCount } }));
    const done = await worker.poll(due, speed);
    // Without a result per job, pg-boss would complete unfinished polls, and their runs would never be polled again.
    return due.map(({ taskId, job }) => ({ id: job.id, status: done.has(taskId) ? COMPLETED : RETRY }));
  };
  const common = { perJobResults: true, burstWhenBatchFull: true } as const;
  const quick = { ...common, batchSize: worker.batchSize, minPriority: SLOW_POLL_PRIORITY + 1 };
  const id = await boss.work(name, { ...quick, pollingIntervalSeconds: 0.75 }, handle("quick"));
  // A second worker fetches while the first waits for Google. It fetches rarely, to keep an idle system cheap.
  await boss.work(name, { ...quick, pollingIntervalSeconds: 5 }, handle("quick"));
  const slow = { ...common, batchSize: worker.slowBatchSize, pollingIntervalSeconds: 6 };
  await boss.work(name, { ...slow, maxPriority: SLOW_POLL_PRIORITY }, handle("slow"));
  return () => boss.notifyWorker(id);
}

async function workOnUpkeep(boss: PgBoss, worker: PollWorker): Promise<void> {
  const starts = {
    batchSize: START_CHECK_BATCH_SIZE,
    burstWhenBatchFull: true,
    pollingIntervalSeconds: UPKEEP_SECONDS,
  };
  await boss.work(STARTS, starts, async (jobs) => {
    const again: JobInsert[] = [];
    for (const { data } of jobs) {
      const { taskId } = jobData.parse(data);
      const afterMs = await worker.checkStart(taskId);
      if (afterMs !== undefined) again.push(checkOf({ taskId, afterMs }));
    }
    if (again.length > 0) await boss.insert(STARTS, again);
  });
  await boss.work(REPAIR, { pollingIntervalSeconds: UPKEEP_SECONDS }, () => worker.repair());
}

/** Logs errors of the handlers: pg-boss only stores them with the job and emits no event. */
const withWarnings = (worker: PollWorker, warn: FaultLog): PollWorker => {
  const warnAndRethrow =
    (source: string) =>
    (error: unknown): never => {
      warn(source, error);
      throw error;
    };
  return {
    ...worker,
    poll: (due, speed) => worker.poll(due, speed).catch(warnAndRethrow("Polling research runs")),
    checkStart: (taskId) => worker.checkStart(taskId).catch(warnAndRethrow("Checking a start")),
    repair: () => worker.repair().catch(warnAndRethrow("Repairing the polls of research runs")),
  };
};

interface FetchedJob {
  id: string;
  retryCount: number;
  data: unknown;
}

const [COMPLETED, RETRY] = ["completed", "failed"] as const;

const checkOf = ({ taskId, afterMs }: { taskId: string; afterMs: number }): JobInsert => ({
  data: { taskId },
  startAfter: afterMs / 1_000,
});

/** `startAfter` is a delay in seconds, so that the database's clock applies, not ours. */
const jobOf = ({ taskId, afterMs = 0, priority = 0, isSlow = false }: NextPoll): JobInsert => ({
  singletonKey: taskId,
  data: { taskId },
  startAfter: Math.round(afterMs) / 1_000,
  priority: isSlow ? SLOW_POLL_PRIORITY : priority,
  ...(isSlow ? { expireInSeconds: SLOW_POLL_EXPIRE_SECONDS } : {}),
});

async function prepareQueues(boss: PgBoss, ownKey: string) {
  const known = new Map<string, Promise<void>>();
  const create = async (name: string, queue: Parameters<PgBoss["createQueue"]>[1]): Promise<void> => {
    await boss.createQueue(name, queue);
    // Makes pg-boss cache the queue now, on its own connection, rather than during one of our transactions.
    await boss.findJobs(name, { id: NO_JOB });
  };
  const ensure = async (key: string): Promise<string> => {
    const name = queueOf(key);
    const made = known.get(name) ?? create(name, POLLS);
    known.set(name, made);
    // A failed creation is retried by the next call.
    await made.catch((error: unknown) => {
      known.delete(name);
      throw error;
    });
    return name;
  };
  await boss.start();
  await create(FAILED, { retentionSeconds: 24 * 3_600 });
  await create(STARTS, { retryLimit: 10, retryBackoff: true, expireInSeconds: 60, deleteAfterSeconds: 60 });
  await create(REPAIR, { policy: "exclusive", retryLimit: 0, expireInSeconds: 120, deleteAfterSeconds: 60 });
  await ensure(ownKey);
  return { ensure };
}

/** Partitioned to keep the shared job table small. Polls that fail for good are rescheduled by the repair. */
const POLLS = {
  policy: "exclusive",
  partition: true,
  expireInSeconds: EXPIRE_SECONDS,
  retryLimit: 5,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 15,
  deleteAfterSeconds: 3_600,
  deadLetter: FAILED,
};

/** An optional dependency: installations that use SQLite do not need it. */
export async function importPgBoss(): Promise<typeof import("pg-boss")> {
  try {
    return await import("pg-boss");
  } catch (error) {
    throw new AppError({
      code: "SQLITE_ERROR",
      message: "GEMINI_SEARCH_DATABASE_URL is set, but pg-boss, which schedules the polls, is not installed.",
      suggestion: "Install it beside gemini-search-mcp: npm install pg pg-boss@12.35.0",
      cause: error,
    });
  }
}
