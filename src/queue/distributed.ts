/** Across machines the queue of polls is pg-boss, on the database that holds the runs: one job per poll. */

import type { JobInsert, PgBoss } from "pg-boss";
import { z } from "zod";
import { AppError } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "../store/database.ts";
import { connectionConfig } from "../store/postgres/postgres.ts";
import { databaseError } from "../store/postgres/driver.ts";
import { createFaultLog, type FaultLog } from "./fault-log.ts";
import type { NextPoll, PollQueue } from "./queue.ts";

/** A poll that is this process's to make. */
export interface DuePoll {
  taskId: string;
  job: { id: string; retryCount: number };
}

interface PollWorker {
  /** Only polls that need this key. */
  key: string;
  batchSize: number;
  patientBatchSize: number;
  /** Makes these polls; resolves with the runs whose poll it has released. The engine retries the others. */
  poll(due: DuePoll[], patience: "quick" | "patient"): Promise<ReadonlySet<string>>;
  /** Resolves with how long to wait before the next check; undefined when there is none to make. */
  checkStart(taskId: string): Promise<number | undefined>;
  /** Once a minute, in one process of all. */
  repair(): Promise<void>;
}

export interface DistributedQueue extends PollQueue {
  readonly isEngine: true;
  work(worker: PollWorker): Promise<void>;
  /** In the transaction that settles them. A poll that the engine has given to another process stays: the runs of all others. */
  release(transaction: Database, due: DuePoll[]): Promise<Set<string>>;
  /** Polls in flight are settled, or left to the engine's retries. */
  close(): Promise<void>;
}

export interface DistributedOptions {
  url: string;
  /** Of the process that opens it: every process can schedule its polls at once. */
  key: string;
  /** False: polls are scheduled here and made elsewhere. */
  follows: boolean;
  log: Log;
}

/** Beside our tables, not among them: the engine has migrations of its own. */
export const SCHEMA = "gemini_search_jobs";
/** Of earlier versions, which had one job per run. */
const FORMER_QUEUE = "runs";
const STARTS = "check-start";
const REPAIR = "repair";
const FAILED = "poll-failed";
/** For fetches, supervision and schedules, which are short; polls themselves use ours. */
const CONNECTIONS = 4;
/** Longer than the driver's ten seconds: to open a connection costs the database as much as ten fetches. */
const IDLE_CONNECTION_MS = 10 * 60_000;
/** A process that dies or sleeps loses its polls in flight after so long. */
const EXPIRE_SECONDS = 15;
/** Three requests and two pauses, or one request that Google does not answer. */
const PATIENT_EXPIRE_SECONDS = 90;
const SUPERVISE_SECONDS = 5;
/** Checks of starts and the repair are not urgent; each fetch costs the database something. */
const UPKEEP_SECONDS = 15;
const STARTS_AT_ONCE = 100;
/** Patient polls are in the same queue, so that a run never has two, below every other priority. */
const PATIENT_PRIORITY = -1_000;
const URGENT_PRIORITY = 100;
const CHUNK = 1_000;
const QUERY_MS = 60_000;
const STOP_MS = 2_000;
const NO_JOB = "00000000-0000-0000-0000-000000000000";

const jobData = z.object({ taskId: z.string() });
const released = z.object({ settled: z.array(z.string()).nullish() });

/** Whether polls are an engine's jobs; otherwise the table of runs is the queue. */
export const isDistributed = (queue: PollQueue): queue is DistributedQueue => queue.isEngine;

const PREFIX = "poll-";
const queueOf = (key: string): string => PREFIX + key;
export const keyOf = (queue: string): string => queue.slice(PREFIX.length);

export const isPollQueue = (name: string): boolean => name.startsWith(PREFIX) && name !== FAILED;

export async function openDistributedQueue(options: DistributedOptions): Promise<DistributedQueue> {
  const { PgBoss: Boss, fromKysely } = await importEngine();
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
    isEngine: true,
    schedule: async (db, polls) => {
      for (const [key, ofKey] of Map.groupBy(polls, ({ key: needed }) => needed ?? ownKey)) {
        const name = await queues.ensure(key);
        for (let at = 0; at < ofKey.length; at += CHUNK) {
          await boss.insert(name, ofKey.slice(at, at + CHUNK).map(jobOf), { db: fromKysely(db) });
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
      // First the only step that needs the database: when it fails, nothing is registered, and the caller retries.
      await boss.schedule(REPAIR, "* * * * *");
      const watched = withWarnings(worker, warn);
      wake = await workOnPolls(boss, name, watched);
      await workOnUpkeep(boss, watched);
    },
    close,
  };
}

const bossOptions = ({ url, follows }: DistributedOptions) => ({
  ...connectionConfig(url),
  application_name: "gemini-search-mcp jobs",
  // Without it, a response that the network drops would stop the polls for good.
  query_timeout: QUERY_MS,
  max: CONNECTIONS,
  idleTimeoutMillis: IDLE_CONNECTION_MS,
  schema: SCHEMA,
  supervise: follows,
  schedule: follows,
  superviseIntervalSeconds: SUPERVISE_SECONDS,
  monitorIntervalSeconds: SUPERVISE_SECONDS,
  maintenanceIntervalSeconds: 300,
  // Nothing listens to its warnings, and at rest its queries are a tenth of the load on the database.
  monitorVacuum: false,
  // One step of a background migration at a time.
  bamIntervalSeconds: 10,
});

/** Returns the function that makes a worker fetch at once. */
async function workOnPolls(boss: PgBoss, name: string, worker: PollWorker): Promise<() => void> {
  const handle = (patience: "quick" | "patient") => async (jobs: FetchedJob[]) => {
    const due = jobs.map(({ id, retryCount, data }) => ({ ...jobData.parse(data), job: { id, retryCount } }));
    const done = await worker.poll(due, patience);
    // Otherwise a job that was not settled would be completed, and its run never polled again.
    return due.map(({ taskId, job }) => ({ id: job.id, status: done.has(taskId) ? COMPLETED : RETRY }));
  };
  const common = { perJobResults: true, burstWhenBatchFull: true } as const;
  const quick = { ...common, batchSize: worker.batchSize, minPriority: PATIENT_PRIORITY + 1 };
  const id = await boss.work(name, { ...quick, pollingIntervalSeconds: 0.75 }, handle("quick"));
  // A second loop fetches while the first waits for Google. At rest fetches are the main cost, so it polls rarely.
  await boss.work(name, { ...quick, pollingIntervalSeconds: 5 }, handle("quick"));
  const patient = { ...common, batchSize: worker.patientBatchSize, pollingIntervalSeconds: 3 };
  await boss.work(name, { ...patient, maxPriority: PATIENT_PRIORITY }, handle("patient"));
  return () => boss.notifyWorker(id);
}

async function workOnUpkeep(boss: PgBoss, worker: PollWorker): Promise<void> {
  const starts = { batchSize: STARTS_AT_ONCE, burstWhenBatchFull: true, pollingIntervalSeconds: UPKEEP_SECONDS };
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

/** pg-boss stores what a handler throws with the job and emits no event: without this, a fault would go unnoticed. */
const withWarnings = (worker: PollWorker, warn: FaultLog): PollWorker => {
  const warnAndRethrow =
    (source: string) =>
    (error: unknown): never => {
      warn(source, error);
      throw error;
    };
  return {
    ...worker,
    poll: (due, patience) => worker.poll(due, patience).catch(warnAndRethrow("Polling research runs")),
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

/** A date of the database's clock, not of ours. */
const jobOf = ({ taskId, afterMs = 0, priority = 0, patient = false }: NextPoll): JobInsert => ({
  singletonKey: taskId,
  data: { taskId },
  startAfter: Math.round(afterMs) / 1_000,
  priority: patient ? PATIENT_PRIORITY : priority,
  ...(patient ? { expireInSeconds: PATIENT_EXPIRE_SECONDS } : {}),
});

async function prepareQueues(boss: PgBoss, ownKey: string) {
  const known = new Map<string, Promise<void>>();
  const create = async (name: string, queue: Parameters<PgBoss["createQueue"]>[1]): Promise<void> => {
    await boss.createQueue(name, queue);
    // The engine reads once what a queue is like, on a connection of its own: not inside a transaction of ours.
    await boss.findJobs(name, { id: NO_JOB });
  };
  const ensure = async (key: string): Promise<string> => {
    const name = queueOf(key);
    const made = known.get(name) ?? create(name, POLLS);
    known.set(name, made);
    // What fails now is tried again by the next that needs it.
    await made.catch((error: unknown) => {
      known.delete(name);
      throw error;
    });
    return name;
  };
  await boss.start();
  await boss.deleteQueue(FORMER_QUEUE);
  await create(FAILED, { retentionSeconds: 24 * 3_600 });
  await create(STARTS, { retryLimit: 10, retryBackoff: true, expireInSeconds: 60, deleteAfterSeconds: 60 });
  await create(REPAIR, { policy: "exclusive", retryLimit: 0, expireInSeconds: 120, deleteAfterSeconds: 60 });
  await ensure(ownKey);
  return { ensure };
}

/** A table of its own keeps the engine's other jobs small. What fails for good is scheduled again by the repair. */
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

/** Optional: an installation that keeps its state in a file does not have it. */
export async function importEngine(): Promise<typeof import("pg-boss")> {
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
