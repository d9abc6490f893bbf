/** Numbered pictures of a report, and the Search Suggestions of a result. */

import type { Kysely } from "kysely";
import { columnTypes } from "../dialect.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  const types = columnTypes(db);
  // One row per picture and run: deleting a run also deletes its pictures.
  await db.schema
    .createTable("research_pictures")
    .addColumn("task_id", "text", (column) => column.notNull().references("research_tasks.task_id").onDelete("cascade"))
    .addColumn("n", "integer", (column) => column.notNull())
    .addColumn("content_hash", "text", (column) => column.notNull())
    .addColumn("mime_type", "text", (column) => column.notNull())
    .addColumn("width", "integer", (column) => column.notNull())
    .addColumn("height", "integer", (column) => column.notNull())
    .addColumn("byte_length", "integer", (column) => column.notNull())
    .addColumn("offset_byte", "bigint", (column) => column.notNull())
    .addColumn("content", types.bytes, (column) => column.notNull())
    .addPrimaryKeyConstraint("research_pictures_key", ["task_id", "n"])
    .execute();
  await db.schema.alterTable("research_results").addColumn("suggestions", types.bytes).execute();
}
