/** When another call last joined a start: cancelling the first call must then not cancel the run. */

import type { Kysely } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("research_tasks").addColumn("joined_at", "bigint").execute();
}
