/** What a million stored runs and ten thousand followed ones need: small indices, and one pace for all processes. */

import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  // Of all runs only the followed ones, and of these only those under lease: both stay small however much is stored.
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
  // A list of the few that are of a kind or in a state must not read the many that are not.
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

  // The search index finds a row by its number only; by run it would read every report there is.
  await db.schema.alterTable("research_results").addColumn("search_rowid", "integer").execute();
  await sql`
    update research_results set search_rowid = found.rowid
    from (select rowid, task_id from research_search) as found
    where found.task_id = research_results.task_id`.execute(db);
}
