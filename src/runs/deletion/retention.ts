/** Deletes runs that ended more than `keepDays` days ago, one at a time, and old notifications that belong to none. */

import { dropOldWithoutRun } from "../../notifications/outbox.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../store/database.ts";
import { truncateLog } from "../../store/sqlite/sqlite.ts";
import { forgetInteractionIds, forgetOwners } from "../ledger/ledger-store.ts";
import { deleteRun, lastUpdate, runsEndedBefore, UNKNOWN_KEPT_MS } from "./deletion-store.ts";

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
/** How many expired runs are read at a time. */
const BATCH_RUNS = 100;
/** The budgets of a month count by owner. */
const MIN_OWNER_DAYS = 62;
/** Pause after each run for other writers and, on SQLite, for all readers of this process. */
const MIN_PAUSE_MS = 5;

/** Each run in a short transaction. Returns the number of deleted runs. */
export async function deleteExpiredRuns(deps: Omit<RetentionDeps, "removeCopies">): Promise<number> {
  const { db, clock, keepDays, leaving } = deps;
  const now = await plausibleNow(deps);
  // Those of runs that a user has deleted, even if no other is.
  await forgetInteractionIds(db, now - UNKNOWN_KEPT_MS);
  if (keepDays === 0) return 0;
  const before = now - keepDays * DAY_MS;
  let deleted = 0;
  for (;;) {
    const removed = new Set<string>();
    for (const taskId of await runsEndedBefore(db, { before, now, limit: BATCH_RUNS })) {
      if (leaving.aborted) break;
      const startedAt = clock.monotonic();
      if (await deleteRun(db, { taskIds: [taskId], now })) removed.add(taskId);
      await clock.sleep(Math.max(MIN_PAUSE_MS, clock.monotonic() - startedAt), leaving).catch(() => undefined);
    }
    // None is left, or another process deletes the same runs.
    if (removed.size === 0) break;
    deleted += removed.size;
    await deps.removeBackups(removed);
  }
  await forgetOwners(db, now - Math.max(keepDays, MIN_OWNER_DAYS) * DAY_MS);
  if (deleted > 0) {
    deps.log.info(
      `${deleted} ${deleted === 1 ? "run" : "runs"} older than ${keepDays} days deleted (RESEARCH_KEEP_DAYS).`,
    );
  }
  return deleted;
}

/** Assumes at most one day since the last update, so that a clock years ahead does not delete everything. */
async function plausibleNow({ db, clock }: Pick<RetentionDeps, "db" | "clock">): Promise<number> {
  const newest = await lastUpdate(db);
  return newest === undefined ? clock.now() : Math.min(clock.now(), newest + DAY_MS);
}

async function upkeep(deps: RetentionDeps): Promise<void> {
  await deps.removeCopies(deps.clock.now());
  await dropOldWithoutRun(deps.db, deps.clock.now());
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
