/** Polls overdue runs before they are read: at a terminal possibly no other process polls them. */

import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../store/database.ts";
import { arePolled, overdueRuns } from "./overdue-store.ts";
import type { Runner } from "./runner.ts";

export interface OverdueDeps {
  db: Database;
  clock: Clock;
  /** Called only if a run is overdue. */
  runner: () => Promise<Pick<Runner, "start" | "wake">>;
  signal: AbortSignal;
}

/** Of a list. Each poll is a request to Google. */
const MAX_RUNS = 5;
/** A reader waits no longer for Google; the poll may still end before the process does. */
const MAX_WAIT_MS = 4_000;
const CHECK_MS = 50;

/** `taskId`: only this run. `onPoll` is called before the first request. */
export async function pollOverdue(
  { db, clock, runner: openRunner, signal }: OverdueDeps,
  { owner, taskId, onPoll }: { owner: string; taskId?: string | undefined; onPoll: () => void },
): Promise<void> {
  const now = clock.now();
  const taskIds = await overdueRuns(db, { owner, taskId, now, limit: MAX_RUNS });
  if (taskIds.length === 0) return;
  onPoll();
  const until = clock.monotonic() + MAX_WAIT_MS;
  const runner = await openRunner();
  // The runs are due already. Their due times say since when nobody has polled them, so they stay.
  runner.start();
  runner.wake();
  while (!(await arePolled(db, taskIds, now)) && clock.monotonic() < until && !signal.aborted) {
    await clock.sleep(CHECK_MS, signal).catch(() => undefined);
  }
}
