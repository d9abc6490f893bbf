/** An unexpected response from Google about a run, and since when it has been returned. */

import type { Kysely } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("research_tasks").addColumn("odd_answer", "text").execute();
  await db.schema.alterTable("research_tasks").addColumn("odd_answer_since", "bigint").execute();
}
