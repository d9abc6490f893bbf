/** SQL for the pictures of reports. */

import { PICTURE_TYPES, type Picture, type PictureFacts, type PictureType } from "../reports/pictures/picture.ts";
import type { Database } from "../store/database.ts";

const FACTS = ["n", "content_hash", "mime_type", "width", "height", "byte_length", "offset_byte"] as const;

/** Runs in the caller's transaction, and replaces the pictures of an earlier text of the same run. */
export async function savePictures(db: Database, taskId: string, pictures: readonly Picture[]): Promise<void> {
  await dropPictures(db, taskId);
  for (const picture of pictures) {
    await db
      .insertInto("research_pictures")
      .values({
        task_id: taskId,
        n: picture.n,
        content_hash: picture.hash,
        mime_type: picture.mimeType,
        width: picture.width,
        height: picture.height,
        byte_length: picture.byteLength,
        offset_byte: picture.offsetByte,
        content: picture.content,
      })
      .execute();
  }
}

export async function dropPictures(db: Database, taskId: string): Promise<void> {
  await db.deleteFrom("research_pictures").where("task_id", "=", taskId).execute();
}

export async function pictureFacts(db: Database, taskId: string): Promise<PictureFacts[]> {
  const rows = await db
    .selectFrom("research_pictures")
    .select(FACTS)
    .where("task_id", "=", taskId)
    .orderBy("n")
    .execute();
  return rows.map(factsOf);
}

/** The caller has checked the owner of the run. */
export async function findPicture(db: Database, taskId: string, n: number): Promise<Picture | undefined> {
  const row = await db
    .selectFrom("research_pictures")
    .select([...FACTS, "content"])
    .where("task_id", "=", taskId)
    .where("n", "=", n)
    .executeTakeFirst();
  return row === undefined ? undefined : { ...factsOf(row), content: row.content };
}

export async function findPictures(db: Database, taskId: string): Promise<Picture[]> {
  const rows = await db
    .selectFrom("research_pictures")
    .select([...FACTS, "content"])
    .where("task_id", "=", taskId)
    .orderBy("n")
    .execute();
  return rows.map((row) => ({ ...factsOf(row), content: row.content }));
}

interface FactsRow {
  n: number;
  content_hash: string;
  mime_type: string;
  width: number;
  height: number;
  byte_length: number;
  offset_byte: number;
}

const factsOf = (row: FactsRow): PictureFacts => ({
  n: row.n,
  hash: row.content_hash,
  mimeType: typeOf(row.mime_type),
  width: row.width,
  height: row.height,
  byteLength: row.byte_length,
  offsetByte: row.offset_byte,
});

/** The type becomes a Content-Type header, so only known values are returned. */
const typeOf = (stored: string): PictureType => PICTURE_TYPES.find((type) => type === stored) ?? "image/png";
