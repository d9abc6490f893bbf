/** SQL that keeps the full-text index of titles, questions and reports. */

import type { Database } from "../../store/database.ts";
import { insertSearchable } from "../../store/dialect.ts";
import { questionWithTitle } from "../../store/full-text.ts";

/** Returns the row of the index. Call it after the update that ends the run: no title given in the meantime is missed. */
export async function addToSearch(
  transaction: Database,
  { taskId, query, report }: { taskId: string; query: string; report: string },
): Promise<number> {
  const run = transaction.selectFrom("research_tasks").select("title").where("task_id", "=", taskId);
  const title = (await run.executeTakeFirst())?.title ?? undefined;
  const texts = { task_id: taskId, query: questionWithTitle(query, title), report };
  return insertSearchable(transaction, transaction.insertInto("research_search").values(texts));
}

/** Nothing to do for a run without a report, whose title is added with the report. */
export async function updateTitleInSearch(
  transaction: Database,
  { taskId, query, title }: { taskId: string; query: string; title: string | undefined },
): Promise<void> {
  await transaction
    .updateTable("research_search")
    .set({ query: questionWithTitle(query, title) })
    .where("rowid", "=", (found) =>
      found
        .selectFrom("research_results")
        .select((result) => result.ref("search_rowid").$notNull().as("rowid"))
        .where("task_id", "=", taskId),
    )
    .execute();
}

/** Deletes by rowid: task_id is not indexed in the full-text table. */
export async function dropFromSearch(db: Database, taskId: string): Promise<void> {
  await db
    .deleteFrom("research_search")
    .where("rowid", "=", (found) =>
      found.selectFrom("research_results").select("search_rowid").where("task_id", "=", taskId),
    )
    .execute();
}
