/** Marks follow-ups, and what the model that answers one was given: the interaction at Google or the stored report. */

import type { Kysely } from "kysely";

/** No index: follow-ups are read by `parent_task_id`, which has one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("research_tasks").addColumn("followup_context", "text").execute();
}
