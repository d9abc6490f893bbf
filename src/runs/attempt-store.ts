/** SQL for attempts: the start requests that were, or may have been, sent to Google for a run. */

import type { Database } from "../store/database.ts";
import { lockRun, START_LEASE_MS } from "./lock-store.ts";

export interface NewAttempt {
  attemptId: string;
  taskId: string;
  keyFingerprint: string | undefined;
  baseUrl: string;
  /** By the clock of the database. */
  createdAt: number;
  now: number;
}

export function insertAttempt(db: Database, attempt: NewAttempt) {
  return db
    .insertInto("research_attempts")
    .values({
      attempt_id: attempt.attemptId,
      task_id: attempt.taskId,
      state: "sending",
      created_at: attempt.createdAt,
      sent_at: attempt.now,
      key_fingerprint: attempt.keyFingerprint ?? null,
      base_url: attempt.baseUrl,
    })
    .execute();
}

/** Whether the attempt may still be sent by this process: another may have cancelled, abandoned or restarted it. */
export type SendPermission = "granted" | "cancelled" | "call_cancelled" | "taken_over";

interface SendClaim {
  taskId: string;
  attemptId: string;
  processId: string;
  /** The call that began the start was cancelled, which ends the start unless another call has joined it. */
  isCallCancelled: boolean;
  /** Called once the run is locked: from then on, what is read here may become stale. */
  now: () => number;
}

/**
 * Checks the attempt and, in the same transaction, renews the lease of its run: no other process ends the start while
 * its request is in flight, and a database that rejects writes is detected before anything is charged.
 */
export function claimSending(
  db: Database,
  { taskId, attemptId, processId, isCallCancelled, now: readClock }: SendClaim,
): Promise<SendPermission> {
  return db.transaction().execute(async (transaction) => {
    await lockRun(transaction, taskId);
    const now = readClock();
    const run = await transaction
      .selectFrom("research_attempts")
      .innerJoin("research_tasks", "research_tasks.task_id", "research_attempts.task_id")
      .select(["research_attempts.state", "research_attempts.interaction_id as interactionId"])
      .select([
        "research_tasks.status",
        "research_tasks.gave_way as gaveWay",
        "research_tasks.lease_owner as leaseOwner",
      ])
      .select(["research_tasks.cancel_requested_at as cancelRequestedAt", "research_tasks.joined_at as joinedAt"])
      .where("research_attempts.attempt_id", "=", attemptId)
      .executeTakeFirst();
    if (run === undefined) return "taken_over";
    if (run.status === "cancelled" || (run.status === "pending" && run.cancelRequestedAt !== null)) return "cancelled";
    const isOwn = run.status === "pending" && run.gaveWay === 0 && run.leaseOwner === processId;
    if (!isOwn || run.state !== "sending" || run.interactionId !== null) return "taken_over";
    const isUnwanted = isCallCancelled && run.joinedAt === null;
    await transaction
      .updateTable("research_tasks")
      .set({ lease_until: now + START_LEASE_MS, updated_at: now })
      // No call can join a run with this column set.
      .$if(isUnwanted, (update) => update.set({ cancel_requested_at: now }))
      .where("task_id", "=", taskId)
      .execute();
    if (isUnwanted) return "call_cancelled";
    await transaction
      .updateTable("research_attempts")
      .set({ sent_at: now })
      .where("attempt_id", "=", attemptId)
      .execute();
    return "granted";
  });
}

export const newStartIds = (): { taskId: string; attemptId: string } => ({
  taskId: crypto.randomUUID(),
  attemptId: crypto.randomUUID(),
});

export async function hasAttempt(db: Database, attemptId: string): Promise<boolean> {
  const found = db.selectFrom("research_attempts").select("attempt_id").where("attempt_id", "=", attemptId);
  return (await found.executeTakeFirst()) !== undefined;
}

/** All attempts of a run, oldest first. */
export async function attemptsOf(db: Database, taskId: string) {
  const rows = await db
    .selectFrom("research_attempts")
    .select(["state", "sent_at", "answered_at"])
    .where("task_id", "=", taskId)
    .orderBy("created_at")
    .orderBy("attempt_id")
    .execute();
  return rows.map(({ state, sent_at, answered_at }) => ({
    state,
    sentAt: sent_at ?? undefined,
    answeredAt: answered_at ?? undefined,
  }));
}

/** The newest attempt of a run: a follow-up that Google could not continue has two. */
export function currentAttempt(db: Database, taskId: string) {
  return db
    .selectFrom("research_attempts")
    .selectAll()
    .where("task_id", "=", taskId)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
}
