/** SQL for attempts: the start requests that were, or may have been, sent to Google for a run. */

import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import { type Database, storable, type Tables } from "../store/database.ts";
import { lockRun } from "./lock-store.ts";
import { START_LEASE_MS } from "./lease.ts";

export interface NewAttempt {
  attemptId: string;
  taskId: string;
  keyFingerprint: string | undefined;
  baseUrl: string;
  /** Undefined for a run without a plan. */
  turn?: AttemptTurn | undefined;
  /** The likely cost of a request that no person has confirmed. */
  unconfirmedUsd?: number | undefined;
  now: number;
}

/** The turn of a run with a plan that an attempt belongs to. */
export interface AttemptTurn {
  turn: number;
  isPlanning: boolean;
  planEdit?: string | undefined;
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
      unconfirmed_usd: attempt.unconfirmedUsd ?? null,
      ...(attempt.turn === undefined ? {} : turnColumns(attempt.turn)),
    })
    .execute();
}

const turnColumns = ({ turn, isPlanning, planEdit }: AttemptTurn) => ({
  turn,
  is_planning: isPlanning ? (1 as const) : (0 as const),
  plan_edit: planEdit === undefined ? null : storable(planEdit),
});

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
      .select(["research_tasks.status", "research_tasks.lease_owner as leaseOwner"])
      .select(["research_tasks.cancel_requested_at as cancelRequestedAt", "research_tasks.joined_at as joinedAt"])
      .where("research_attempts.attempt_id", "=", attemptId)
      .executeTakeFirst();
    if (run === undefined) return "taken_over";
    if (run.status === "cancelled" || (run.status === "pending" && run.cancelRequestedAt !== null)) return "cancelled";
    const isOwn = run.status === "pending" && run.leaseOwner === processId;
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
    .select(["state", "sent_at", "answered_at", "turn", "is_planning"])
    .where("task_id", "=", taskId)
    .orderBy("created_at")
    .orderBy("attempt_id")
    .execute();
  return rows.map(({ state, turn, ...row }) => ({
    state,
    turn,
    sentAt: row.sent_at ?? undefined,
    answeredAt: row.answered_at ?? undefined,
    isPlanning: row.is_planning === 1,
  }));
}

/** A sender that was suspended during a restart must not end the new attempt. */
export const isNotBeingSentAgain =
  ({ taskId, attemptId }: { taskId: string; attemptId: string }) =>
  ({ not, exists, selectFrom }: ExpressionBuilder<Tables, "research_tasks">): Expression<SqlBool> =>
    not(
      exists(
        selectFrom("research_attempts")
          .select("attempt_id")
          .where("task_id", "=", taskId)
          .where("attempt_id", "!=", attemptId)
          .where("state", "=", "sending"),
      ),
    );

/** The turn that the newest attempt of a run belongs to. */
export async function currentTurn(db: Database, taskId: string): Promise<AttemptTurn | undefined> {
  const newest = await currentAttempt(db, taskId);
  if (newest === undefined) return undefined;
  const { turn, is_planning, plan_edit } = newest;
  return { turn, isPlanning: is_planning === 1, planEdit: plan_edit ?? undefined };
}

/** The newest attempt of a run: of its last turn, whatever the clocks of the processes were. */
export function currentAttempt(db: Database, taskId: string) {
  return db
    .selectFrom("research_attempts")
    .selectAll()
    .where("task_id", "=", taskId)
    .orderBy("turn", "desc")
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
}
