/** A second secret for page sessions besides the cookie, and the server address a link is valid for. */

import type { Kysely } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("page_keys").addColumn("secret_hash", "text").execute();
  await db.schema.alterTable("page_keys").addColumn("address", "text").execute();
}
