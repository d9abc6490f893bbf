/** Page sessions need a second secret besides the cookie; a link is good at the address it was made for only. */

import type { Kysely } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("page_keys").addColumn("secret_hash", "text").execute();
  await db.schema.alterTable("page_keys").addColumn("address", "text").execute();
}
