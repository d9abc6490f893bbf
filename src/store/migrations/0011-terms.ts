/** How a cost is to be taken (a lower bound, or priced by the model's family), and runs by the time they ended. */

import type { Kysely } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ["cost_incomplete", "cost_estimated"]) {
    await db.schema.alterTable("research_tasks").addColumn(column, "integer").execute();
  }
  // For the retention sweep: without it each one would read every run.
  await db.schema
    .createIndex("research_tasks_by_completed_at")
    .on("research_tasks")
    .columns(["completed_at", "task_id"])
    .execute();
}
