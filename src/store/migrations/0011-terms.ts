/** Flags for incomplete and estimated costs, an index by completion time, and when links were resolved. */

import type { Kysely } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ["cost_incomplete", "cost_estimated"]) {
    await db.schema.alterTable("research_tasks").addColumn(column, "integer").execute();
  }
  // For the retention sweep, which would otherwise read every run.
  await db.schema
    .createIndex("research_tasks_by_completed_at")
    .on("research_tasks")
    .columns(["completed_at", "task_id"])
    .execute();
  await db.schema.alterTable("research_results").addColumn("links_resolved_at", "bigint").execute();
  await db.schema.createIndex("research_results_by_saved_at").on("research_results").columns(["saved_at"]).execute();
}
