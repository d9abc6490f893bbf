/** Plans of a research: each planning turn is an attempt with its plan and usage, and its run waits for approval. */

import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  const attempts = db.schema.alterTable("research_attempts");
  await attempts.addColumn("turn", "integer", (column) => column.notNull().defaultTo(sql`1`)).execute();
  await attempts.addColumn("is_planning", "integer", (column) => column.notNull().defaultTo(sql`0`)).execute();
  for (const column of ["plan_edit", "plan_markdown", "usage_json"]) {
    await attempts.addColumn(column, "text").execute();
  }
  await attempts.addColumn("plan_expires_at", "bigint").execute();
  await db.schema.alterTable("research_tasks").addColumn("plan_json", "text").execute();
  // Every sweep looks for plans that have expired, which are few among many runs.
  await db.schema
    .createIndex("research_tasks_by_plan_deadline")
    .on("research_tasks")
    .columns(["deadline_at"])
    .where(sql.ref("status"), "=", sql.lit("awaiting_approval"))
    .execute();
}
