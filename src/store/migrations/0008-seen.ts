/** When a process was last there, for those of which nobody here can tell whether they are. */

import type { Kysely } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("processes").addColumn("seen_at", "bigint").execute();
}
