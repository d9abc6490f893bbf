/** Polls runs once, without a poller. */

import type { Database } from "../../../src/store/database.ts";
import { recordSeen, type Outcome } from "../../../src/runs/poll/seen-store.ts";
import type { PolledRun } from "../../../src/runs/run.ts";
import { polledRunOf } from "../../../src/runs/run-row.ts";
import { allPolledRuns, endPolling, readPolledRuns } from "../../../src/runs/scheduling/polled-store.ts";

/** The runs that are polled, as a poll reads them. */
export async function polledRuns(db: Database): Promise<PolledRun[]> {
  const taskIds = (await allPolledRuns(db)).map(({ taskId }) => taskId);
  const rows = await readPolledRuns(db, ["", ...taskIds]);
  return [...rows.values()].map(polledRunOf);
}

export async function polledRun(db: Database): Promise<PolledRun> {
  const [run] = await polledRuns(db);
  if (run === undefined) throw new Error("No run is polled.");
  return run;
}

/** The columns by which the end of a poll recognises its run. */
export const asPolled = ({ taskId, deadlineAt, interactionId }: PolledRun) => ({
  task_id: taskId,
  deadline_at: deadlineAt === Number.MAX_SAFE_INTEGER ? null : deadlineAt,
  interaction_id: interactionId,
});

/** Stores the outcome of a poll as the poller does. */
export async function settleOutcome(db: Database, run: PolledRun, { seen, next, recorded }: Outcome): Promise<void> {
  if (seen !== undefined) await recordSeen(db, [{ taskId: run.taskId, seen }]);
  if (next === "never" && recorded !== true) await endPolling(db, [asPolled(run)]);
}
