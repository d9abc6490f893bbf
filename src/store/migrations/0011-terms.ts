/** How a cost is to be taken (a lower bound, or priced by the model's family), runs by the time they ended, and when their links were resolved. */

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
  await db.schema.alterTable("research_results").addColumn("links_resolved_at", "bigint").execute();
  await db.schema.createIndex("research_results_by_saved_at").on("research_results").columns(["saved_at"]).execute();
}
