/** Named access tokens for HTTP, stored as hashes. */

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
  // One live token per name, even if two commands add it at the same time.
  await db.schema
    .createIndex("access_tokens_by_live_name")
    .unique()
    .on("access_tokens")
    .columns(["name"])
    .where(sql.ref("revoked_at"), "is", null)
    .execute();
}
