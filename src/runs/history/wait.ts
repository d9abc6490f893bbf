/** Waiting for a run, whichever process works on it: the store is where they all meet. */

import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../store/database.ts";
import type { Run } from "../run.ts";
import { findRun } from "../run-store.ts";

const LOOK_EVERY_MS = 100;

export interface Wait {
  owner: string;
  taskId: string;
  until: (run: Run) => boolean | Promise<boolean>;
  ms: number;
  signal?: AbortSignal | undefined;
}

/** The run as it is when the condition holds or the time is over. */
export async function waitForRun(db: Database, clock: Clock, wait: Wait): Promise<Run> {
  const giveUpAt = clock.monotonic() + wait.ms;
  for (;;) {
    const run = await findRun(db, wait.owner, wait.taskId);
    const left = giveUpAt - clock.monotonic();
    if ((await wait.until(run)) || left <= 0 || wait.signal?.aborted === true) return run;
    await clock.sleep(Math.min(LOOK_EVERY_MS, left), wait.signal).catch(() => undefined);
  }
}
