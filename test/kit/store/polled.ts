/** Polls runs once, without a poller. */

import type { Database } from "../../../src/store/database.ts";
import { recordSeen, type Outcome } from "../../../src/runs/poll/seen-store.ts";
import type { PolledRun } from "../../../src/runs/run.ts";
import { allPolledRuns, endPolling, readPolledRuns } from "../../../src/runs/scheduling/polled-store.ts";
import { silentLog } from "../log.ts";

/** The runs that are polled, as a poll reads them. */
export async function polledRuns(db: Database): Promise<PolledRun[]> {
  const taskIds = (await allPolledRuns(db)).map(({ taskId }) => taskId);
  const runs = await readPolledRuns(db, ["", ...taskIds], silentLog);
  return [...runs.values()].flatMap((run) => run ?? []);
}

export async function polledRun(db: Database): Promise<PolledRun> {
  const [run] = await polledRuns(db);
  if (run === undefined) throw new Error("No run is polled.");
  return run;
}

/** Stores the outcome of a poll as the poller does. */
export async function settleOutcome(db: Database, run: PolledRun, { seen, next, recorded }: Outcome): Promise<void> {
  if (seen !== undefined) await recordSeen(db, [{ taskId: run.taskId, seen }]);
  if (next === "never" && recorded !== true) await endPolling(db, [run]);
}
