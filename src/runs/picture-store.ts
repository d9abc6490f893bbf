/** SQL for the pictures of reports. */

import { PICTURE_TYPES, type Picture, type PictureFacts, type PictureType } from "../reports/pictures/picture.ts";
import type { Database } from "../store/database.ts";
import { lockExclusive } from "../store/dialect.ts";

const FACTS = [
  "n",
  "research_pictures.content_hash as hash",
  "mime_type as mimeType",
  "width",
  "height",
  "byte_length as byteLength",
  "offset_byte as offsetByte",
] as const;

const STORED_ELSEWHERE = new Uint8Array();

/** Runs in the caller's transaction, and replaces the pictures of an earlier text of the same run. */
export async function savePictures(transaction: Database, taskId: string, pictures: readonly Picture[]): Promise<void> {
  const former = await lockContents(transaction, [taskId], pictures);
  if (former === undefined) return;
  await transaction.deleteFrom("research_pictures").where("task_id", "=", taskId).execute();
  for (const picture of pictures) {
    await transaction
      .insertInto("picture_contents")
      .values({ content_hash: picture.hash, content: picture.content })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
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
        offset_byte: picture.offsetByte,
        content: STORED_ELSEWHERE,
      })
      .execute();
  }
  await dropUnusedContents(transaction, former);
}

/** Runs in the caller's transaction. */
export async function dropPictures(transaction: Database, taskIds: readonly string[]): Promise<void> {
  const former = await lockContents(transaction, taskIds, []);
  if (former === undefined) return;
  await transaction.deleteFrom("research_pictures").where("task_id", "in", taskIds).execute();
  await dropUnusedContents(transaction, former);
}

/**
 * Returns the hashes of the stored pictures of these runs, or undefined where there are neither old nor new ones. One
 * transaction at a time changes which runs use which contents: otherwise one could delete what another has found stored.
 */
async function lockContents(
  transaction: Database,
  taskIds: readonly string[],
  pictures: readonly Picture[],
): Promise<string[] | undefined> {
  const stored = await transaction
    .selectFrom("research_pictures")
    .select("content_hash")
    .distinct()
    .where("task_id", "in", taskIds)
    .execute();
  if (stored.length === 0 && pictures.length === 0) return undefined;
  await lockExclusive(transaction, "pictures");
  return stored.map(({ content_hash }) => content_hash);
}

const MAX_CONTENTS_PER_SWEEP = 100;

/** Deletes contents that no run has: a process of an earlier version does not delete them with the run. */
export async function dropOrphanedContents(db: Database): Promise<void> {
  const orphans = await db
    .selectFrom("picture_contents")
    .select("content_hash")
    .where((content) =>
      content.not(
        content.exists(
          content
            .selectFrom("research_pictures")
            .select("research_pictures.n")
            .whereRef("research_pictures.content_hash", "=", "picture_contents.content_hash"),
        ),
      ),
    )
    .limit(MAX_CONTENTS_PER_SWEEP)
    .execute();
  if (orphans.length === 0) return;
  await db.transaction().execute(async (transaction) => {
    await lockExclusive(transaction, "pictures");
    await dropUnusedContents(
      transaction,
      orphans.map(({ content_hash }) => content_hash),
    );
  });
}

async function dropUnusedContents(transaction: Database, hashes: readonly string[]): Promise<void> {
  if (hashes.length === 0) return;
  const used = transaction.selectFrom("research_pictures").select("content_hash").where("content_hash", "in", hashes);
  await transaction
    .deleteFrom("picture_contents")
    .where("content_hash", "in", hashes)
    .where("content_hash", "not in", used)
    .execute();
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
  db
    .selectFrom("research_pictures")
    .leftJoin("picture_contents", "picture_contents.content_hash", "research_pictures.content_hash")
    .select(FACTS)
    .select(["research_pictures.content as own", "picture_contents.content as shared"])
    .where("task_id", "=", taskId);

type FactsRow = Omit<PictureFacts, "mimeType"> & { mimeType: string };

const pictureOf = ({ own, shared, ...row }: FactsRow & { own: Uint8Array; shared: Uint8Array | null }): Picture => ({
  ...factsOf(row),
  content: shared ?? own,
});

const factsOf = (row: FactsRow): PictureFacts => ({ ...row, mimeType: typeOf(row.mimeType) });

/** The type becomes a Content-Type header, so only known values are returned. */
const typeOf = (stored: string): PictureType => PICTURE_TYPES.find((type) => type === stored) ?? "image/png";
