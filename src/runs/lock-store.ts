/** SQL for single rows of runs: the lock that serialises transactions which write to a run, and reads of a few columns. */

import type { Database, Tables } from "../store/database.ts";
import { lockRows } from "../store/dialect.ts";

/**
 * Call first in a transaction. By convention the lock also protects the run's attempts, events and results. False if
 * there is no such run.
 */
export async function lockRun(transaction: Database, taskId: string): Promise<boolean> {
  const run = transaction.selectFrom("research_tasks").select("task_id").where("task_id", "=", taskId);
  return (await lockRows(transaction, run).execute()).length > 0;
}

/** Reads these columns of a run; undefined if there is no such run. */
export const readColumns = <Column extends keyof Tables["research_tasks"]>(
  db: Database,
  taskId: string,
  columns: readonly Column[],
) => db.selectFrom("research_tasks").select(columns).where("task_id", "=", taskId).executeTakeFirst();
