/** Assignment of runs to processes by the job queue, and which processes poll runs. Dropped in 0016. */

import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("research_tasks").addColumn("handed_to", "text").execute();
  // Partial indexes: only assigned or polled runs, so they stay small however many runs are stored.
  for (const columns of [
    ["handed_to", "next_poll_at"],
    ["handed_to", "owner", "next_poll_at"],
  ]) {
    await db.schema
      .createIndex(`research_tasks_by_${columns.join("_")}`)
      .on("research_tasks")
      .columns(columns)
      .where(sql.ref("handed_to"), "is not", null)
      .execute();
  }
  await db.schema
    .createIndex("research_tasks_by_owner_next_poll_at")
    .on("research_tasks")
    .columns(["owner", "next_poll_at"])
    .where(sql.ref("next_poll_at"), "is not", null)
    .execute();
  await db.schema.alterTable("processes").addColumn("follows_at", "bigint").execute();
}
