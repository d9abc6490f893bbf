/** Deletes runs that ended more than `keepDays` days ago, in batches whose size adapts to their duration. */

import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../store/database.ts";
import { truncateLog } from "../../store/sqlite/sqlite.ts";
import { deleteRun, deleteRuns, lastUpdate, runsEndedBefore, runsWithLongTimeline } from "./deletion-store.ts";

export interface RetentionDeps {
  db: Database;
  clock: Clock;
  log: Log;
  /** Deletes other copies of deleted runs, such as old copies of the database. */
  removeCopies: (now: number) => Promise<void>;
  /** Removes the files of runs whose reports the database had refused. */
  removeBackups: (taskIds: ReadonlySet<string>) => Promise<void>;
  /** 0: runs are never deleted. */
  keepDays: number;
  leaving: AbortSignal;
}

const DAY_MS = 86_400_000;
const SWEEP_INTERVAL_MS = 3_600_000;
/** Target duration of a batch, which holds the write lock on SQLite and row locks on PostgreSQL. */
const BATCH_TARGET_MS = 100;
const FIRST_BATCH_RUNS = 20;
const MAX_BATCH_RUNS = 500;
/** Pause between batches for other writers and, on SQLite, for all readers of this process. */
const MIN_PAUSE_MS = 50;

/** Deletes in short transactions, one process at a time. Returns the number of deleted runs. */
export async function deleteExpiredRuns(deps: Omit<RetentionDeps, "removeCopies">): Promise<number> {
  const { db, clock, keepDays, leaving } = deps;
  if (keepDays === 0) return 0;
  const now = await plausibleNow(deps);
  const before = now - keepDays * DAY_MS;
  let deleted = 0;
  let limit = FIRST_BATCH_RUNS;
  while (!leaving.aborted) {
    const expired = await runsEndedBefore(db, { before, now, limit });
    if (expired.length === 0) break;
    const startedAt = clock.monotonic();
    const removed = await deleteBatch(deps, expired, now);
    const tookMs = clock.monotonic() - startedAt;
    deleted += removed.length;
    // Another process is deleting, or no deletable run is left.
    if (removed.length === 0) break;
    await deps.removeBackups(new Set(removed));
    limit = nextLimit(limit, tookMs);
    await clock.sleep(Math.max(MIN_PAUSE_MS, tookMs), leaving).catch(() => undefined);
  }
  if (deleted > 0) {
    deps.log.info(
      `${deleted} ${deleted === 1 ? "run" : "runs"} older than ${keepDays} days deleted (RESEARCH_KEEP_DAYS).`,
    );
  }
  return deleted;
}

/** Shrinks immediately when a batch took too long, grows gradually otherwise. */
const nextLimit = (limit: number, tookMs: number): number =>
  tookMs > BATCH_TARGET_MS
    ? Math.max(1, Math.floor((limit * BATCH_TARGET_MS) / tookMs / 2))
    : Math.min(MAX_BATCH_RUNS, Math.ceil(tookMs > BATCH_TARGET_MS / 2 ? limit : limit * 1.5));

/** Assumes at most one day since the last update, so that a clock years ahead does not delete everything. */
async function plausibleNow({ db, clock }: Pick<RetentionDeps, "db" | "clock">): Promise<number> {
  const newest = await lastUpdate(db);
  return newest === undefined ? clock.now() : Math.min(clock.now(), newest + DAY_MS);
}

async function deleteBatch(
  { db, leaving }: Pick<RetentionDeps, "db" | "leaving">,
  taskIds: string[],
  now: number,
): Promise<string[]> {
  const long = await runsWithLongTimeline(db, taskIds);
  const short = taskIds.filter((taskId) => !long.has(taskId));
  const removed = short.length === 0 ? [] : await deleteRuns(db, short, now);
  if (removed === undefined) return [];
  for (const taskId of long) {
    if (leaving.aborted) break;
    if (await deleteRun(db, { taskIds: [taskId], now })) removed.push(taskId);
  }
  return removed;
}

async function upkeep(deps: RetentionDeps): Promise<void> {
  await deps.removeCopies(deps.clock.now());
  await deleteExpiredRuns(deps);
  // Also of files that were sent with a research, whose contents are deleted without a run.
  await truncateLog(deps.db);
}

/** Runs immediately and then every hour until shutdown; `during` keeps the database open while a sweep is running. */
export function startRetention(deps: RetentionDeps, during: (work: Promise<unknown>) => Promise<unknown>): void {
  const sweep = (): void => {
    const work = upkeep(deps).catch((error: unknown) => {
      deps.log.warn(`Old runs could not be deleted: ${error instanceof Error ? error.message : "unknown"}`);
    });
    void during(work);
  };
  if (deps.leaving.aborted) return;
  const timer = setInterval(sweep, SWEEP_INTERVAL_MS).unref();
  deps.leaving.addEventListener("abort", () => clearInterval(timer), { once: true });
  sweep();
}
