/** SQL for the files that a start sends. What they are called and contain is in the options of the run. */

import type { SentFile } from "../../gemini/research-agent.ts";
import type { Database } from "../../store/database.ts";

/** Runs in the transaction that commits the intent: an intent without its files could not be sent again. */
export async function saveFiles(transaction: Database, taskId: string, files: readonly SentFile[]): Promise<void> {
  for (const [index, { content }] of files.entries()) {
    await transaction
      .insertInto("research_files")
      .values({ task_id: taskId, n: index + 1, content })
      .execute();
  }
}

/** A start that is sent again sends the same. */
export const copyFiles = (transaction: Database, from: string, to: string): Promise<unknown> =>
  transaction
    .insertInto("research_files")
    .columns(["task_id", "n", "content"])
    .expression((files) =>
      files
        .selectFrom("research_files")
        .select((file) => [file.val(to).as("task_id"), "n", "content"])
        .where("task_id", "=", from),
    )
    .execute();

export async function findFiles(db: Database, taskId: string): Promise<Uint8Array[]> {
  const rows = await db
    .selectFrom("research_files")
    .select("content")
    .where("task_id", "=", taskId)
    .orderBy("n")
    .execute();
  return rows.map(({ content }) => content);
}

/** In these states the start has yet to be sent, or may have to be sent again. */
const MAY_BE_SENT = ["pending", "start_unknown"] as const;
const MAX_RELEASED_RUNS = 20;

/** Deletes the files of runs whose start is decided. Reads first: a sweep that finds nothing takes no write lock. */
export async function releaseFiles(db: Database): Promise<void> {
  const decided = await db
    .selectFrom("research_files")
    .innerJoin("research_tasks", "research_tasks.task_id", "research_files.task_id")
    .select("research_files.task_id")
    .distinct()
    .where("research_tasks.status", "not in", MAY_BE_SENT)
    .limit(MAX_RELEASED_RUNS)
    .execute();
  if (decided.length === 0) return;
  const ids = decided.map(({ task_id }) => task_id);
  await db.deleteFrom("research_files").where("task_id", "in", ids).execute();
}
