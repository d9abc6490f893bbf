/** The bytes of pictures, once by content hash. */

import type { Kysely } from "kysely";
import { columnTypes } from "../dialect.ts";

/**
 * Existing pictures keep their bytes in `research_pictures.content`, which processes of an earlier version still fill;
 * it is empty for pictures whose bytes are here.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("picture_contents")
    .addColumn("content_hash", "text", (column) => column.primaryKey())
    .addColumn("content", columnTypes(db).bytes, (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("research_pictures_by_content_hash")
    .on("research_pictures")
    .column("content_hash")
    .execute();
}
