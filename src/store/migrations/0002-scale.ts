/** Partial indexes for a million stored and ten thousand polled runs, and the table of rate limits. */

import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  // Partial indexes: only polled runs, and only leased runs. Both stay small however many runs are stored.
  await db.schema
    .createIndex("research_tasks_by_next_poll_at")
    .on("research_tasks")
    .columns(["next_poll_at"])
    .where(sql.ref("next_poll_at"), "is not", null)
    .execute();
  await db.schema
    .createIndex("research_tasks_by_lease_owner")
    .on("research_tasks")
    .columns(["lease_owner"])
    .where(sql.ref("lease_until"), "is not", null)
    .execute();
  // A list filtered by status or kind must not read all other runs.
  for (const filter of ["status", "kind"]) {
    await db.schema
      .createIndex(`research_tasks_by_owner_${filter}_created_at_task_id`)
      .on("research_tasks")
      .columns(["owner", filter, "created_at", "task_id"])
      .execute();
  }
  await db.schema
    .createIndex("notification_outbox_by_channel_claimed_at")
    .on("notification_outbox")
    .columns(["channel", "claimed_at", "outbox_id"])
    .execute();

  await db.schema
    .createTable("pace")
    .addColumn("name", "text", (column) => column.primaryKey())
    .addColumn("next_at", "bigint", (column) => column.notNull())
    .execute();

  // The search index can look up a row only by rowid; a lookup by run would read every report.
  await db.schema.alterTable("research_results").addColumn("search_rowid", "integer").execute();
  await sql`
    update research_results set search_rowid = found.rowid
    from (select rowid, task_id from research_search) as found
    where found.task_id = research_results.task_id`.execute(db);
}
