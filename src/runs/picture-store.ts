/** SQL for the pictures of reports. */

import { PICTURE_TYPES, type Picture, type PictureFacts, type PictureType } from "../reports/pictures/picture.ts";
import type { Database } from "../store/database.ts";

const FACTS = [
  "n",
  "content_hash as hash",
  "mime_type as mimeType",
  "width",
  "height",
  "byte_length as byteLength",
  "text_offset as offset",
] as const;

/** Runs in the caller's transaction, and replaces the pictures of an earlier text of the same run. */
export async function savePictures(transaction: Database, taskId: string, pictures: readonly Picture[]): Promise<void> {
  await dropPictures(transaction, [taskId]);
  for (const picture of pictures) {
    await transaction
      .insertInto("research_pictures")
      .values({
        task_id: taskId,
        n: picture.n,
        content_hash: picture.hash,
        mime_type: picture.mimeType,
        width: picture.width,
        height: picture.height,
        byte_length: picture.byteLength,
        text_offset: picture.offset,
        content: picture.content,
      })
      .execute();
  }
}

/** Runs in the caller's transaction. */
export async function dropPictures(transaction: Database, taskIds: readonly string[]): Promise<void> {
  await transaction.deleteFrom("research_pictures").where("task_id", "in", taskIds).execute();
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
  const row = await withContents(db, taskId).where("n", "=", n).executeTakeFirst();
  return row && pictureOf(row);
}

export async function findPictures(db: Database, taskId: string): Promise<Picture[]> {
  return (await withContents(db, taskId).orderBy("n").execute()).map(pictureOf);
}

const withContents = (db: Database, taskId: string) =>
  db.selectFrom("research_pictures").select(FACTS).select("content").where("task_id", "=", taskId);

type FactsRow = Omit<PictureFacts, "mimeType"> & { mimeType: string };

const pictureOf = ({ content, ...row }: FactsRow & { content: Uint8Array }): Picture => ({ ...factsOf(row), content });

const factsOf = (row: FactsRow): PictureFacts => ({ ...row, mimeType: typeOf(row.mimeType) });

/** The type becomes a Content-Type header, so only known values are returned. */
const typeOf = (stored: string): PictureType => PICTURE_TYPES.find((type) => type === stored) ?? "image/png";
