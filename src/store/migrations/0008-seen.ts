/** Last heartbeat of a process, for processes on other machines. */

import type { Kysely } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("processes").addColumn("seen_at", "bigint").execute();
}
