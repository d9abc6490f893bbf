/** SQL for the row lock on a run, which serialises transactions that write to it. */

import type { Database } from "../store/database.ts";
import { lockRows } from "../store/dialect.ts";

/** Call first in a transaction. By convention the lock also protects the run's attempts, events and results. */
export async function lockRun(transaction: Database, taskId: string): Promise<void> {
  const run = transaction.selectFrom("research_tasks").select("task_id").where("task_id", "=", taskId);
  await lockRows(transaction, run).execute();
}
