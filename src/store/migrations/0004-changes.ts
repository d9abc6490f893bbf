/** Index to find recently changed runs. */

import type { Kysely } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex("research_tasks_by_owner_updated_at")
    .on("research_tasks")
    .columns(["owner", "updated_at"])
    .execute();
}
