/** SQL for a report from elsewhere, which becomes a finished run. It was not paid for here: the ledger has no row of it. */

import { uuidOf } from "../../platform/uuid.ts";
import { type Database, storable } from "../../store/database.ts";
import { IMPORTED } from "../run.ts";
import type { Source } from "../../reports/report.ts";
import { saveResult } from "../result-store.ts";

export interface ImportedReport {
  owner: string;
  client: string | undefined;
  question: string;
  report: string;
  sources: Source[];
  /** When it was written. */
  at: number;
  now: number;
}

export function importReport(db: Database, imported: ImportedReport): Promise<{ taskId: string; isNew: boolean }> {
  const { owner, client, question, report, sources, at, now } = imported;
  // The id follows from the text, so that one that was imported before is found, and is the same run.
  const taskId = uuidOf([IMPORTED, owner, report]);
  return db.transaction().execute(async (transaction) => {
    const added = await transaction
      .insertInto("research_tasks")
      .values({
        task_id: taskId,
        owner,
        kind: "search",
        backend: IMPORTED,
        query: storable(question),
        status: "completed",
        progress: 100,
        mode: "sync",
        options_json: "{}",
        client: client ?? null,
        enable_notifications: 0,
        created_at: at,
        started_at: at,
        completed_at: at,
        updated_at: now,
        usage_final: 1,
      })
      .onConflict((conflict) => conflict.column("task_id").doNothing())
      .returning("task_id")
      .executeTakeFirst();
    if (added === undefined) return { taskId, isNew: false };
    const result = { report, sources, metadata: {}, partial: false };
    await saveResult(transaction, { taskId, query: question, result, now });
    // A check may be paid for: only the user starts it.
    await transaction
      .updateTable("research_results")
      .set({ citations_checked_at: now })
      .where("task_id", "=", taskId)
      .execute();
    return { taskId, isNew: true };
  });
}
