/** Deletes runs that ended more than the kept number of days ago, in batches that adapt to how long they take. */

import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../store/database.ts";
import { deleteRun, deleteRuns, lastUpdate, runsEndedBefore, runsWithLongTimeline } from "./deletion-store.ts";

export interface RetentionDeps {
  db: Database;
  clock: Clock;
  log: Log;
  /** Removes what else outlives a deleted run, such as old copies of the database. */
  removeCopies: (now: number) => Promise<void>;
  /** 0: everything is kept. */
  keepDays: number;
  leaving: AbortSignal;
}

const DAY_MS = 86_400_000;
const SWEEP_EVERY_MS = 3_600_000;
/** A batch holds the write lock of SQLite, and rows on PostgreSQL, for about this long. */
const BATCH_TARGET_MS = 100;
const FIRST_BATCH_RUNS = 20;
const MAX_BATCH_RUNS = 500;
/** Between batches other writers, and on SQLite all readers of this process, get their turn. */
const MIN_PAUSE_MS = 50;

/** In short transactions; of several processes one deletes at a time. Returns how many runs it deleted. */
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
    const began = clock.monotonic();
    const removed = await deleteBatch(deps, expired, now);
    const tookMs = clock.monotonic() - began;
    deleted += removed;
    // Another process is deleting, or each of them has changed.
    if (removed === 0) break;
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

/** Smaller at once when a batch took too long, larger by and by. */
const nextLimit = (limit: number, tookMs: number): number =>
  tookMs > BATCH_TARGET_MS
    ? Math.max(1, Math.floor((limit * BATCH_TARGET_MS) / tookMs / 2))
    : Math.min(MAX_BATCH_RUNS, Math.ceil(tookMs > BATCH_TARGET_MS / 2 ? limit : limit * 1.5));

/** A clock that is years ahead must not delete everything: at most a day has passed since anything was last written. */
async function plausibleNow({ db, clock }: Pick<RetentionDeps, "db" | "clock">): Promise<number> {
  const newest = await lastUpdate(db);
  return newest === undefined ? clock.now() : Math.min(clock.now(), newest + DAY_MS);
}

async function deleteBatch(
  { db, leaving }: Pick<RetentionDeps, "db" | "leaving">,
  taskIds: string[],
  now: number,
): Promise<number> {
  const long = await runsWithLongTimeline(db, taskIds);
  const short = taskIds.filter((taskId) => !long.has(taskId));
  let removed = short.length === 0 ? 0 : await deleteRuns(db, short, now);
  if (removed === undefined) return 0;
  for (const taskId of long) {
    if (leaving.aborted) break;
    if (await deleteRun(db, { taskId, now })) removed += 1;
  }
  return removed;
}

async function upkeep(deps: RetentionDeps): Promise<void> {
  await deps.removeCopies(deps.clock.now());
  await deleteExpiredRuns(deps);
}

/** At once and then every hour, until the process leaves; `during` keeps the database open for a sweep under way. */
export function startRetention(deps: RetentionDeps, during: (work: Promise<unknown>) => Promise<unknown>): void {
  const sweep = (): void => {
    const work = upkeep(deps).catch((error: unknown) => {
      deps.log.warn(`Old runs could not be deleted: ${error instanceof Error ? error.message : "unknown"}`);
    });
    void during(work);
  };
  if (deps.leaving.aborted) return;
  const timer = setInterval(sweep, SWEEP_EVERY_MS).unref();
  deps.leaving.addEventListener("abort", () => clearInterval(timer), { once: true });
  sweep();
}
