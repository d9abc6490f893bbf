/** Makes interaction ids unique per attempt. Duplicates of earlier versions stay with the first attempt. */

import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  // For the update below, which would otherwise compare each row with all others.
  await db.schema
    .createIndex("research_attempts_by_repeated_id")
    .on("research_attempts")
    .columns(["interaction_id", "created_at"])
    .execute();
  await sql`
    update research_attempts set state = 'duplicate'
    where interaction_id is not null and exists (
      select 1 from research_attempts as earlier
      where earlier.interaction_id = research_attempts.interaction_id
        and (earlier.created_at < research_attempts.created_at
          or (earlier.created_at = research_attempts.created_at and earlier.attempt_id < research_attempts.attempt_id))
    )`.execute(db);
  await db.schema.dropIndex("research_attempts_by_repeated_id").execute();
  await db.schema
    .createIndex("research_attempts_interaction_id_key")
    .unique()
    .on("research_attempts")
    .column("interaction_id")
    .where(sql.ref("state"), "!=", "duplicate")
    .execute();
  await db.schema
    .createIndex("research_tasks_by_interaction_id")
    .on("research_tasks")
    .columns(["interaction_id"])
    .where(sql.ref("interaction_id"), "is not", null)
    .execute();
}
