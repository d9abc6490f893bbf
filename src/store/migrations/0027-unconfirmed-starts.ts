/** The likely cost of a paid request that no person confirmed, and an index for their sum over the last day. */

import type { Kysely } from "kysely";
import { sql } from "kysely";
import { columnTypes } from "../dialect.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("research_attempts").addColumn("unconfirmed_usd", columnTypes(db).real).execute();
  await sql`
    create index research_attempts_unconfirmed on research_attempts (created_at)
    where unconfirmed_usd is not null`.execute(db);
}
