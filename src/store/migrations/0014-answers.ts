/** Until when the starting call waits for the report, and the earliest time to send a notification. */

import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("research_tasks").addColumn("caller_waits_until", "bigint").execute();
  await db.schema
    .alterTable("notification_outbox")
    .addColumn("not_before", "bigint", (column) => column.notNull().defaultTo(sql`0`))
    .execute();
}
