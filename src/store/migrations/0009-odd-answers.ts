/** Since when Google has answered about a run in a way that cannot be acted on at once. */

import type { Kysely } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("research_tasks").addColumn("odd_answer", "text").execute();
  await db.schema.alterTable("research_tasks").addColumn("odd_answer_since", "bigint").execute();
}
