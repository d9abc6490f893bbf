/** When another call last joined a start: the cancellation of the call that began it must not end it for the other. */

import type { Kysely } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("research_tasks").addColumn("joined_at", "bigint").execute();
}
