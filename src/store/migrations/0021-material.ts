/** The files that a paid start sends. */

import type { Kysely } from "kysely";
import { columnTypes } from "../dialect.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("research_files")
    .addColumn("task_id", "text", (column) => column.notNull().references("research_tasks.task_id").onDelete("cascade"))
    .addColumn("n", "integer", (column) => column.notNull())
    .addColumn("content", columnTypes(db).bytes, (column) => column.notNull())
    .addPrimaryKeyConstraint("research_files_key", ["task_id", "n"])
    .execute();
}
