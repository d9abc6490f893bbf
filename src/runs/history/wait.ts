/** Waits for a run by polling the database, since any process may work on it. */

import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../store/database.ts";
import type { Run } from "../run.ts";
import { currentOf } from "../conversation-store.ts";

const POLL_INTERVAL_MS = 100;

export interface Wait {
  owner: string;
  taskId: string;
  until: (run: Run) => boolean | Promise<boolean>;
  ms: number;
  signal?: AbortSignal | undefined;
}

/** Returns the run when the condition holds, the time is over or the signal is aborted. */
export async function waitForRun(db: Database, clock: Clock, wait: Wait): Promise<Run> {
  const timeoutAt = clock.monotonic() + wait.ms;
  for (;;) {
    const run = await currentOf(db, wait.owner, wait.taskId);
    const left = timeoutAt - clock.monotonic();
    if ((await wait.until(run)) || left <= 0 || wait.signal?.aborted === true) return run;
    await clock.sleep(Math.min(POLL_INTERVAL_MS, left), wait.signal).catch(() => undefined);
  }
}
