/** The SQL of answers about a run that cannot be acted on at once: since when they have been the same. */

import type { Database } from "../../store/database.ts";

export interface OddAnswer {
  taskId: string;
  /** The same text as long as Google answers the same. */
  answer: string;
  now: number;
}

/** Notes the answer, and returns since when it has been this one. */
export async function sameAnswerSince(db: Database, { taskId, answer, now }: OddAnswer): Promise<number> {
  const row = await db
    .selectFrom("research_tasks")
    .select(["odd_answer", "odd_answer_since"])
    .where("task_id", "=", taskId)
    .executeTakeFirst();
  // Later than now: written before the clock was set back.
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

/** Google answers as it should again. */
export async function forgetOddAnswer(db: Database, taskId: string): Promise<void> {
  await db
    .updateTable("research_tasks")
    .set({ odd_answer: null, odd_answer_since: null })
    .where("task_id", "=", taskId)
    .where("odd_answer", "is not", null)
    .execute();
}

/** What stands for a request that Google rejects. Any other answer ends a row of rejections. */
export const REJECTION = "rejected";
