/** What the user can do about the error of a run, as the refusal itself suggested it. */

import type { Kysely } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("research_tasks").addColumn("error_suggestion", "text").execute();
}
