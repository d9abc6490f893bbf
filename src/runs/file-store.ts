/**
 * SQL for the files of a run: those that its start sends, and the pictures of its report. What the sent files are called
 * is in the options of the run; pictures have their facts beside their contents.
 */

import { z } from "zod";
import type { SentFile } from "../gemini/research-agent.ts";
import { PICTURE_TYPES, type Picture, type PictureFacts } from "../reports/pictures/picture.ts";
import type { Database } from "../store/database.ts";
import { storedJson } from "./run-row.ts";

const filesOf = (db: Database, taskId: string, kind: "sent" | "picture") =>
  db.selectFrom("research_files").where("task_id", "=", taskId).where("kind", "=", kind).orderBy("n");

/** Runs in the transaction that commits the intent: an intent without its files could not be sent again. */
export async function saveFiles(transaction: Database, taskId: string, files: readonly SentFile[]): Promise<void> {
  for (const [index, { content }] of files.entries()) {
    const file = { task_id: taskId, kind: "sent" as const, n: index + 1, content };
    await transaction.insertInto("research_files").values(file).execute();
  }
}

/** A start that is sent again sends the same. */
export async function copyFiles(transaction: Database, from: string, to: string): Promise<void> {
  for (const file of await filesOf(transaction, from, "sent").selectAll().execute()) {
    await transaction
      .insertInto("research_files")
      .values({ ...file, task_id: to })
      .execute();
  }
}

export async function findFiles(db: Database, taskId: string): Promise<Uint8Array[]> {
  return (await filesOf(db, taskId, "sent").select("content").execute()).map(({ content }) => content);
}

/** In these states the start has yet to be sent, or may have to be sent again. */
const MAY_BE_SENT = ["pending", "start_unknown"] as const;
const MAX_RELEASED_RUNS = 20;

/** Deletes the sent files of runs whose start is decided. Reads first: a sweep that finds nothing takes no write lock. */
export async function releaseFiles(db: Database): Promise<void> {
  const decided = await db
    .selectFrom("research_files")
    .innerJoin("research_tasks", "research_tasks.task_id", "research_files.task_id")
    .select("research_files.task_id")
    .distinct()
    .where("research_files.kind", "=", "sent")
    .where("research_tasks.status", "not in", MAY_BE_SENT)
    .limit(MAX_RELEASED_RUNS)
    .execute();
  if (decided.length === 0) return;
  const ids = decided.map(({ task_id }) => task_id);
  await db.deleteFrom("research_files").where("kind", "=", "sent").where("task_id", "in", ids).execute();
}

/** The type becomes a Content-Type header, so only known values are returned. */
const storedFacts = z.object({
  mimeType: z.enum(PICTURE_TYPES).catch("image/png"),
  width: z.number(),
  height: z.number(),
  byteLength: z.number(),
  hash: z.string(),
  offset: z.number(),
});

const factsOf = ({ n, facts_json: json }: { n: number; facts_json: string | null }): PictureFacts => ({
  n,
  ...storedJson(json ?? "{}", storedFacts),
});

/** Runs in the caller's transaction, and replaces the pictures of an earlier text of the same run. */
export async function savePictures(transaction: Database, taskId: string, pictures: readonly Picture[]): Promise<void> {
  await dropPictures(transaction, taskId);
  for (const { n, content, ...facts } of pictures) {
    const picture = { task_id: taskId, kind: "picture" as const, n, facts_json: JSON.stringify(facts), content };
    await transaction.insertInto("research_files").values(picture).execute();
  }
}

/** Runs in the caller's transaction. */
export const dropPictures = (transaction: Database, taskId: string): Promise<unknown> =>
  transaction.deleteFrom("research_files").where("kind", "=", "picture").where("task_id", "=", taskId).execute();

export async function pictureFacts(db: Database, taskId: string): Promise<PictureFacts[]> {
  return (await filesOf(db, taskId, "picture").select(["n", "facts_json"]).execute()).map(factsOf);
}

/** The caller has checked the owner of the run. */
export async function findPicture(db: Database, taskId: string, n: number): Promise<Picture | undefined> {
  const row = await filesOf(db, taskId, "picture").selectAll().where("n", "=", n).executeTakeFirst();
  return row && { ...factsOf(row), content: row.content };
}

export async function findPictures(db: Database, taskId: string): Promise<Picture[]> {
  const rows = await filesOf(db, taskId, "picture").selectAll().execute();
  return rows.map((row) => ({ ...factsOf(row), content: row.content }));
}
