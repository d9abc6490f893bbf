/** SQL for the row lock on a run, which serialises transactions that write to it. */

import type { Database } from "../store/database.ts";
import { lockRows } from "../store/dialect.ts";

/**
 * Call first in a transaction. By convention the lock also protects the run's attempts, events and results. False if
 * there is no such run.
 */
export async function lockRun(transaction: Database, taskId: string): Promise<boolean> {
  const run = transaction.selectFrom("research_tasks").select("task_id").where("task_id", "=", taskId);
  return (await lockRows(transaction, run).execute()).length > 0;
}
