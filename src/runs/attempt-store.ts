/** The SQL of attempts: the requests that were, or may have been, sent to Google for a run. */

import type { Database } from "../store/database.ts";

export interface NewAttempt {
  attemptId: string;
  taskId: string;
  keyFingerprint: string | undefined;
  baseUrl: string;
  now: number;
}

export function insertAttempt(db: Database, attempt: NewAttempt) {
  return db
    .insertInto("research_attempts")
    .values({
      attempt_id: attempt.attemptId,
      task_id: attempt.taskId,
      state: "sending",
      created_at: attempt.now,
      sent_at: attempt.now,
      key_fingerprint: attempt.keyFingerprint ?? null,
      base_url: attempt.baseUrl,
    })
    .execute();
}

/**
 * An attempt was given another's id by who adopted it before its own had come: its own is paid for too, and is kept
 * beside it.
 */
export async function keepSecondId(
  transaction: Database,
  { attemptId, interactionId, now }: { attemptId: string; interactionId: string; now: number },
): Promise<void> {
  const attempts = transaction.selectFrom("research_attempts").selectAll();
  const first = await attempts.where("attempt_id", "=", attemptId).executeTakeFirst();
  const known = await attempts.where("interaction_id", "=", interactionId).executeTakeFirst();
  if (first === undefined || known !== undefined) return;
  const own = { attempt_id: crypto.randomUUID(), interaction_id: interactionId, state: "accepted", answered_at: now };
  await transaction
    .insertInto("research_attempts")
    .values({ ...first, ...own })
    .execute();
}

/** An interaction belongs to one run, whoever may know its id. */
export async function isHeldByAnother(db: Database, interactionId: string, taskId: string): Promise<boolean> {
  const found = db
    .selectFrom("research_attempts")
    .select("attempt_id")
    .where("interaction_id", "=", interactionId)
    .where("task_id", "!=", taskId);
  return (await found.executeTakeFirst()) !== undefined;
}

/** Of a run, and of what is sent for it first. */
export const newStartIds = (): { taskId: string; attemptId: string } => ({
  taskId: crypto.randomUUID(),
  attemptId: crypto.randomUUID(),
});

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
