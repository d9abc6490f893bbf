/** Deletes runs that ended more than the kept number of days ago, a few at a time. */

import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../store/database.ts";
import { deleteRun, lastUpdate, runsEndedBefore } from "./deletion-store.ts";

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
const RUNS_AT_ONCE = 20;
/** Between batches other writers, and on SQLite all readers of this process, get their turn. */
const PAUSE_MS = 50;

/** Each run is a short transaction of its own; several processes may sweep at once. Returns how many it deleted. */
export async function deleteExpiredRuns(deps: Omit<RetentionDeps, "removeCopies">): Promise<number> {
  const { db, clock, keepDays, leaving } = deps;
  if (keepDays === 0) return 0;
  const now = await plausibleNow(deps);
  const before = now - keepDays * DAY_MS;
  let deleted = 0;
  while (!leaving.aborted) {
    const expired = await runsEndedBefore(db, { before, now, limit: RUNS_AT_ONCE });
    if (expired.length === 0) break;
    const removed = await deleteEach(deps, expired, now);
    deleted += removed;
    // None of them could be deleted: another process is at it, or each has changed.
    if (removed === 0) break;
    await clock.sleep(PAUSE_MS, leaving).catch(() => undefined);
  }
  if (deleted > 0) {
    deps.log.info(
      `${deleted} ${deleted === 1 ? "run" : "runs"} older than ${keepDays} days deleted (RESEARCH_KEEP_DAYS).`,
    );
  }
  return deleted;
}

/** A clock that is years ahead must not delete everything: at most a day has passed since anything was last written. */
async function plausibleNow({ db, clock }: Pick<RetentionDeps, "db" | "clock">): Promise<number> {
  const newest = await lastUpdate(db);
  return newest === undefined ? clock.now() : Math.min(clock.now(), newest + DAY_MS);
}

async function deleteEach(
  { db, leaving }: Pick<RetentionDeps, "db" | "leaving">,
  taskIds: string[],
  now: number,
): Promise<number> {
  let removed = 0;
  for (const taskId of taskIds) {
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
