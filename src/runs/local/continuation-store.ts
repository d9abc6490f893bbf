/** SQL for continuing an interrupted search: concurrent calls share one continuation. */

import type { Database } from "../../store/database.ts";
import { lockRun } from "../lock-store.ts";
import { insertRunning, type NewRun } from "../run-store.ts";

export type Continuation = { kind: "begun" } | { kind: "known"; taskId: string; status: string };

/** One transaction with the parent locked, so that a concurrent call gets the run of the first one. */
export function beginContinuation(db: Database, run: NewRun & { parentTaskId: string }): Promise<Continuation> {
  return db.transaction().execute(async (transaction) => {
    const { parentTaskId: taskId, owner } = run;
    await lockRun(transaction, taskId);
    const newest = await newestContinuation(transaction, { taskId, owner });
    if (newest !== undefined) return { kind: "known", taskId: newest.task_id, status: newest.status };
    await insertRunning(transaction, run);
    return { kind: "begun" };
  });
}

/** The last run in the chain of continuations; undefined if there is none. */
export async function newestContinuation(
  db: Database,
  { taskId, owner }: { taskId: string; owner: string },
): Promise<{ task_id: string; status: string } | undefined> {
  let newest: { task_id: string; status: string } | undefined;
  for (let parent = taskId; ; parent = newest.task_id) {
    const child = await db
      .selectFrom("research_tasks")
      .select(["task_id", "status"])
      .where("parent_task_id", "=", parent)
      .where("followup_context", "is", null)
      .where("owner", "=", owner)
      .orderBy("created_at", "desc")
      .limit(1)
      .executeTakeFirst();
    if (child === undefined) return newest;
    newest = child;
  }
}
