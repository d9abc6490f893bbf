/** SQL that tracks how long Google has returned the same unusable response for a run. */

import type { Database } from "../../store/database.ts";
import { readColumns } from "../lock-store.ts";

export interface OddAnswer {
  taskId: string;
  /** Identifies the response; equal as long as the response does not change. */
  answer: string;
  now: number;
}

/** Stores the response and returns the time since when it has been the same. */
export async function sameAnswerSince(db: Database, { taskId, answer, now }: OddAnswer): Promise<number> {
  const row = await readColumns(db, taskId, ["odd_answer", "odd_answer_since"]);
  // A time in the future was written before the clock was set back, and is ignored.
  if (row?.odd_answer === answer && row.odd_answer_since !== null && row.odd_answer_since <= now) {
    return row.odd_answer_since;
  }
  await db
    .updateTable("research_tasks")
    .set({ odd_answer: answer, odd_answer_since: now })
    .where("task_id", "=", taskId)
    .execute();
  return now;
}

/** Called when Google returns a usable response again. */
export async function clearOddAnswer(db: Database, taskId: string): Promise<void> {
  await db
    .updateTable("research_tasks")
    .set({ odd_answer: null, odd_answer_since: null })
    .where("task_id", "=", taskId)
    .where("odd_answer", "is not", null)
    .execute();
}

/** Stored for a request that Google rejects. Any other response ends a series of rejections. */
export const REJECTION = "rejected";
