/** SQL for polls in batches, where pg-boss schedules them. */

import type { Database } from "../../store/database.ts";
import { POLLED_COLUMNS, type PolledRun, polledRunOf } from "../poll/polled-run.ts";

const polledRuns = (db: Database) =>
  db.selectFrom("research_tasks").where("next_poll_at", "is not", null).where("interaction_id", "is not", null);

/** Reads the runs that are still polled. */
export async function readPolledRuns(db: Database, taskIds: string[]): Promise<Map<string, PolledRun>> {
  const rows = await polledRuns(db).select(POLLED_COLUMNS).where("task_id", "in", taskIds).execute();
  return new Map(rows.map((row) => [row.task_id, polledRunOf(row)]));
}

/** The given runs that are still polled, with their poll keys. */
export const keysOfPolledRuns = (db: Database, taskIds: string[]) =>
  polledRuns(db).select(["task_id as taskId", "poll_key as key"]).where("task_id", "in", taskIds).execute();

export const allPolledRuns = (db: Database) =>
  polledRuns(db).select(["task_id as taskId", "poll_key as key", "owner"]).execute();

export async function countByOwner(db: Database, key: string): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["owner", (select) => select.fn.countAll<number>().as("runs")])
    .where("next_poll_at", "is not", null)
    .where((run) => run.or([run("poll_key", "=", key), run("poll_key", "is", null)]))
    .groupBy("owner")
    .execute();
  return new Map(rows.map(({ owner, runs }) => [owner, runs]));
}

/** Ends polling of the runs, except those that were reopened or got another interaction (newer epoch). */
export async function endPolling(db: Database, runs: Pick<PolledRun, "taskId" | "epoch">[]): Promise<void> {
  for (const { taskId, epoch } of runs) {
    await db
      .updateTable("research_tasks")
      .set({ next_poll_at: null })
      .where("task_id", "=", taskId)
      .where("lease_epoch", "=", epoch)
      .execute();
  }
}

/** Runs whose key no process has, and whose deadline has passed or whose obstacle is not this yet. */
export async function withoutKey(
  db: Database,
  { keys, now, limit }: { keys: string[]; now: number; limit: number },
): Promise<PolledRun[]> {
  const rows = await polledRuns(db)
    .select(POLLED_COLUMNS)
    .where("status", "=", "running_async")
    .where("poll_key", "not in", ["", ...keys])
    .where((run) =>
      run.or([
        run("deadline_at", "<=", now),
        run("obstacle", "is", null),
        run("obstacle", "not in", ["other_key", "other_address"]),
      ]),
    )
    .orderBy("deadline_at")
    .limit(limit)
    .execute();
  return rows.map(polledRunOf);
}
