/** Until when the caller of a start waits for its report, and the time before which a notification is not sent. */

import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("research_tasks").addColumn("caller_waits_until", "bigint").execute();
  await db.schema
    .alterTable("notification_outbox")
    .addColumn("not_before", "bigint", (column) => column.notNull().defaultTo(sql`0`))
    .execute();
}
