/** The SQL of holding a run still: what was read of it, and of what belongs to it, is true when it is written. */

import type { Database } from "../store/database.ts";
import { lockRows } from "../store/dialect.ts";

/** As the first thing in a transaction, and until its end. */
export async function lockRun(transaction: Database, taskId: string): Promise<void> {
  const run = transaction.selectFrom("research_tasks").select("task_id").where("task_id", "=", taskId);
  await lockRows(transaction, run).execute();
}
