/** Who may come in over HTTP: named tokens, of which only the hash is kept. */

import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("access_tokens")
    .addColumn("token_hash", "text", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("last_used_at", "bigint")
    .addColumn("revoked_at", "bigint")
    .execute();
  // One live token per name, also when two commands add it at the same moment.
  await db.schema
    .createIndex("access_tokens_by_live_name")
    .unique()
    .on("access_tokens")
    .columns(["name"])
    .where(sql.ref("revoked_at"), "is", null)
    .execute();
}
