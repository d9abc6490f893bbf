/**
 * The engine for PostgreSQL: pg-boss in the database of the runs, one job per delivery. Each key has a queue, so that a
 * run is delivered only to processes that have its key. Due times are by the clock of the database. The statistics of the
 * queues are read through the API of pg-boss.
 */

import type { JobInsert, PgBoss } from "pg-boss";
import { z } from "zod";
import { AppError } from "../../errors.ts";
import type { Log } from "../../platform/log.ts";
import { connectionConfig } from "../../store/postgres/postgres.ts";
import { databaseError } from "../../store/postgres/driver.ts";
import { type Claim, CLOSE_MS, type Due, type Engine, type Lane, rankOf, SLOW_RANK, type Worker } from "./engine.ts";
import type { Database } from "../../store/database.ts";

export interface BossEngineOptions {
  url: string;
  /** The key of this process, used for polls that need no particular key. */
  key: string;
  /** False: this process schedules polls and other processes make them. */
  makesPolls: boolean;
  log: Log;
}

/** A schema of its own, because pg-boss has its own migrations. */
const SCHEMA = "gemini_search_jobs";
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
const URGENT_PRIORITY = 100;
const MAX_JOBS_PER_INSERT = 1_000;
const QUERY_MS = 60_000;
const NO_JOB = "00000000-0000-0000-0000-000000000000";

const jobData = z.object({ taskId: z.string() });
const released = z.object({ settled: z.array(z.string()).nullish() });

const PREFIX = "poll-";
const queueOf = (key: string): string => PREFIX + key;
const keyOf = (queue: string): string => queue.slice(PREFIX.length);

const isPollQueue = (name: string): boolean => name.startsWith(PREFIX);

export async function openBossEngine(options: BossEngineOptions): Promise<Engine> {
  const { PgBoss: Boss, fromKysely } = await importPgBoss();
  const { key: ownKey } = options;
  const boss = new Boss(bossOptions(options));
  // Without a listener an error event would end the process.
  boss.on("error", createFaultLog(options.log));
  const close = (): Promise<void> => boss.stop({ graceful: true, timeout: CLOSE_MS });
  const queues = await prepareQueues(boss, ownKey).catch(async (error: unknown) => {
    await close().catch(() => undefined);
    throw databaseError(error);
  });
  const settled = new WeakSet<Claim>();
  let wake = (): void => {};
  const schedule: Engine["schedule"] = async (db, due) => {
    for (const [key, ofKey] of Map.groupBy(due, ({ key: needed }) => needed ?? ownKey)) {
      const name = await queues.ensure(key);
      for (let at = 0; at < ofKey.length; at += MAX_JOBS_PER_INSERT) {
        await boss.insert(name, ofKey.slice(at, at + MAX_JOBS_PER_INSERT).map(jobOf), { db: fromKysely(db) });
      }
    }
  };
  return {
    schedule,
    work: async (worker) => {
      wake = await workOn(boss, { name: await queues.ensure(worker.key), worker, settled });
      return { wake };
    },
    settle: async (transaction, ended) => {
      const jobs = ended.map(({ claim }) => attemptOf(claim));
      const response = await boss.deleteJob(queueOf(ownKey), jobs, { db: fromKysely(transaction) });
      const ids = new Set(released.parse(response).settled);
      const ours = ended.filter(({ claim }) => ids.has(attemptOf(claim).id));
      await schedule(
        transaction,
        ours.flatMap(({ next }) => next ?? []),
      );
      for (const { claim } of ours) settled.add(claim);
      return new Set(ours.map(({ claim }) => claim.taskId));
    },
    hasten: async ({ taskId, key }) => {
      const urgent = { singletonKey: taskId, startAfter: 0, priority: URGENT_PRIORITY };
      const { updated } = await boss
        .update(await queues.ensure(key ?? ownKey), undefined, urgent)
        .catch((error: unknown) => Promise.reject(databaseError(error)));
      wake();
      return updated > 0;
    },
    close,
  };
}

const bossOptions = ({ url, makesPolls }: BossEngineOptions) => ({
  ...connectionConfig(url),
  application_name: "gemini-search-mcp jobs",
  // Without a timeout, a response lost by the network would stop polling for good.
  query_timeout: QUERY_MS,
  max: CONNECTIONS,
  idleTimeoutMillis: IDLE_CONNECTION_MS,
  schema: SCHEMA,
  supervise: makesPolls,
  schedule: false,
  superviseIntervalSeconds: SUPERVISE_SECONDS,
  monitorIntervalSeconds: SUPERVISE_SECONDS,
  maintenanceIntervalSeconds: 300,
  // Its warnings are not used, and its queries are a tenth of the database load of an idle system.
  monitorVacuum: false,
  // One step of a background migration at a time.
  bamIntervalSeconds: 10,
});

interface FetchedJob {
  id: string;
  retryCount: number;
  data: unknown;
}

const claimOf = ({ id, retryCount, data }: FetchedJob): Claim => ({
  taskId: jobData.parse(data).taskId,
  fence: `${id} ${retryCount}`,
});

/** An attempt of a job that expired, and was fetched again, no longer settles it. */
const attemptOf = ({ fence }: Claim) => {
  const [id = "", retryCount] = fence.split(" ");
  return { id, retryCount: Number(retryCount) };
};

const [COMPLETED, RETRY] = ["completed", "failed"] as const;

/** Returns the function that makes a worker fetch at once. */
async function workOn(
  boss: PgBoss,
  { name, worker, settled }: { name: string; worker: Worker; settled: WeakSet<Claim> },
): Promise<() => void> {
  const handle = (lane: Lane) => async (jobs: FetchedJob[]) => {
    const claims = jobs.map(claimOf);
    await worker.handle(claims, lane).catch(async (error: unknown) => {
      // pg-boss stores an error with the job and emits no event.
      await worker.onFault(error, 1);
      throw error;
    });
    // Without a result per job, pg-boss would complete unfinished polls, and their runs would never be polled again.
    return claims.map((claim) => ({ id: attemptOf(claim).id, status: settled.has(claim) ? COMPLETED : RETRY }));
  };
  const common = { perJobResults: true, burstWhenBatchFull: true } as const;
  const quick = { ...common, batchSize: worker.batch("quick"), minPriority: SLOW_RANK + 1 };
  const id = await boss.work(name, { ...quick, pollingIntervalSeconds: 0.75 }, handle("quick"));
  // A second worker fetches while the first waits for Google. It fetches rarely, to keep an idle system cheap.
  await boss.work(name, { ...quick, pollingIntervalSeconds: 5 }, handle("quick"));
  const slow = { ...common, batchSize: worker.batch("slow"), pollingIntervalSeconds: 6 };
  await boss.work(name, { ...slow, maxPriority: SLOW_RANK }, handle("slow"));
  return () => boss.notifyWorker(id);
}

/** `startAfter` is a delay in seconds, so that the database's clock applies, not ours. */
const jobOf = (due: Due): JobInsert => ({
  singletonKey: due.taskId,
  data: { taskId: due.taskId },
  startAfter: Math.round(due.afterMs ?? 0) / 1_000,
  priority: rankOf(due),
  ...(due.lane === "slow" ? { expireInSeconds: SLOW_POLL_EXPIRE_SECONDS } : {}),
});

async function prepareQueues(boss: PgBoss, ownKey: string) {
  const known = new Map<string, Promise<void>>();
  const create = async (name: string): Promise<void> => {
    await boss.createQueue(name, POLLS);
    // Makes pg-boss cache the queue now, on its own connection, rather than during one of our transactions.
    await boss.findJobs(name, { id: NO_JOB });
  };
  const ensure = async (key: string): Promise<string> => {
    const name = queueOf(key);
    const made = known.get(name) ?? create(name);
    known.set(name, made);
    // A failed creation is retried by the next call.
    await made.catch((error: unknown) => {
      known.delete(name);
      throw error;
    });
    return name;
  };
  await boss.start();
  await ensure(ownKey);
  return { ensure };
}

/** Partitioned to keep the shared job table small. Polls that fail for good are scheduled again by the repair. */
const POLLS = {
  policy: "exclusive",
  partition: true,
  expireInSeconds: EXPIRE_SECONDS,
  retryLimit: 5,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 15,
  deleteAfterSeconds: 3_600,
} as const;

const WARN_AGAIN_MS = 60_000;

/** At most once a minute, because every fetch fails while the database is unavailable. */
function createFaultLog(log: Log): (error: unknown) => void {
  let warnedAt = -Infinity;
  return (error) => {
    const now = performance.now();
    if (now - warnedAt < WARN_AGAIN_MS) return;
    warnedAt = now;
    log.warn(`The job queue: ${reasonOf(error)} Retrying.`);
  };
}

/** Errors of the driver and the server have a code and are translated; any other error is a bug and logged as is. */
const reasonOf = (error: unknown): string =>
  error instanceof Error && !(error instanceof AppError) && !("code" in error)
    ? `${error.name}: ${error.message}.`
    : databaseError(error).message;

/** An optional dependency: installations that use SQLite do not need it. */
async function importPgBoss(): Promise<typeof import("pg-boss")> {
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
