/** Unique marks, so that an event of Google's stream is stored once even if it is received several times. */

import type { Kysely } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("research_events").addColumn("mark", "text").execute();
  await db.schema
    .createIndex("research_events_by_mark")
    .unique()
    .on("research_events")
    .columns(["task_id", "mark"])
    .execute();
}
