/** The SQL of attempts: the requests that were, or may have been, sent to Google for a run. */

import type { Database } from "../store/database.ts";

/** An interaction belongs to one run, whoever may know its id. */
export async function isHeldByAnother(db: Database, interactionId: string, taskId: string): Promise<boolean> {
  const found = db
    .selectFrom("research_attempts")
    .select("attempt_id")
    .where("interaction_id", "=", interactionId)
    .where("task_id", "!=", taskId);
  return (await found.executeTakeFirst()) !== undefined;
}

export async function hasAttempt(db: Database, attemptId: string): Promise<boolean> {
  const found = db.selectFrom("research_attempts").select("attempt_id").where("attempt_id", "=", attemptId);
  return (await found.executeTakeFirst()) !== undefined;
}

/** All that was sent for a run, in order. */
export async function attemptsOf(db: Database, taskId: string) {
  const rows = await db
    .selectFrom("research_attempts")
    .select(["attempt_id", "state", "sent_at", "answered_at"])
    .where("task_id", "=", taskId)
    .orderBy("created_at")
    .orderBy("attempt_id")
    .execute();
  return rows.map((row) => ({
    attemptId: row.attempt_id,
    state: row.state,
    sentAt: row.sent_at ?? undefined,
    answeredAt: row.answered_at ?? undefined,
  }));
}

/** The newest attempt of a run. */
export function currentAttempt(db: Database, taskId: string) {
  return db
    .selectFrom("research_attempts")
    .selectAll()
    .where("task_id", "=", taskId)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
}
