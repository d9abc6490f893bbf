/** The SQL of the start protocol: the intent before anything is sent, and what became of it. */

import { withdraw } from "../../notifications/outbox.ts";
import type { PollQueue } from "../../queue/queue.ts";
import { type Database, storable } from "../../store/database.ts";
import { lockExclusive } from "../../store/dialect.ts";
import { insertAttempt, type NewAttempt, newStartIds } from "../attempt-store.ts";
import { lockRun } from "../lock-store.ts";
import { joinSameStart } from "./duplicate-start-store.ts";
import { START_LEASE_MS } from "../lease.ts";
import { NO_LIMITS, refuseAboveLimits, type StartLimits } from "./limits-store.ts";

export interface Intent {
  owner: string;
  query: string;
  agent: string;
  joinKey: string;
  options: Record<string, unknown>;
  estimate: Record<string, unknown>;
  client: string | undefined;
  enableNotifications: boolean;
  maxWaitMs: number;
  /** How long the call waits for the end at most; 0 when it returns as soon as the start is accepted. */
  callerWaitsMs?: number | undefined;
  keyFingerprint: string | undefined;
  baseUrl: string;
  processId: string;
  now: number;
}

export type IntentOutcome =
  | { kind: "joined"; taskId: string }
  | { kind: "intended"; taskId: string; attemptId: string };

const NO_ERROR = { error_code: null, error_message: null };

/** What a start has to pass, and the queue that checks it later. */
export interface Admission {
  limits?: StartLimits | undefined;
  queue?: PollQueue | undefined;
  /** Chosen by who has to know them also when the database's answer is lost. */
  ids?: ReturnType<typeof newStartIds> | undefined;
}

/** One transaction, so that of any number of identical starts in any number of processes exactly one is sent. */
export function commitIntent(
  db: Database,
  intent: Intent,
  {
    join,
    beforeNew,
    limits,
    queue,
    ids = newStartIds(),
  }: Admission & { join: boolean; beforeNew?: (() => void) | undefined },
): Promise<IntentOutcome> {
  return db.transaction().execute(async (transaction) => {
    if (join) await lockExclusive(transaction, `start:${intent.joinKey}`);
    const same = join ? await joinSameStart(transaction, intent) : undefined;
    if (same !== undefined) return { kind: "joined", taskId: same };
    beforeNew?.();
    await refuseAboveLimits(transaction, limits ?? NO_LIMITS, intent);
    const { taskId, attemptId } = ids;
    await transaction
      .insertInto("research_tasks")
      .values({
        task_id: taskId,
        owner: intent.owner,
        kind: "agent",
        query: storable(intent.query),
        status: "pending",
        progress: 0,
        mode: "async",
        backend: "api",
        model: intent.agent,
        options_json: JSON.stringify(intent.options),
        join_key: intent.joinKey,
        estimate_json: JSON.stringify(intent.estimate),
        client: intent.client ?? null,
        enable_notifications: intent.enableNotifications ? 1 : 0,
        created_at: intent.now,
        started_at: intent.now,
        updated_at: intent.now,
        deadline_at: intent.now + intent.maxWaitMs,
        caller_waits_until: (intent.callerWaitsMs ?? 0) > 0 ? intent.now + (intent.callerWaitsMs ?? 0) : null,
        lease_owner: intent.processId,
        lease_epoch: 1,
        lease_until: intent.now + START_LEASE_MS,
        keep_partial: 1,
        tokens_input: 0,
        tokens_output: 0,
        usage_final: 0,
      })
      .execute();
    await insertAttempt(transaction, { ...intent, taskId, attemptId });
    await queue?.checkStart(transaction, { taskId, afterMs: START_LEASE_MS });
    return { kind: "intended", taskId, attemptId };
  });
}

/** A knowing restart of an unknown start: a new attempt, because the old one may be running and paid for. */
export function commitRestart(
  db: Database,
  restart: Omit<NewAttempt, "attemptId"> & { processId: string; deadlineAt: number },
  { limits, queue, ids: { attemptId } = newStartIds() }: Admission = {},
): Promise<string | undefined> {
  return db.transaction().execute(async (transaction) => {
    const unknown = await transaction
      .selectFrom("research_tasks")
      .select("owner")
      .where("task_id", "=", restart.taskId)
      .where("status", "=", "start_unknown")
      .executeTakeFirst();
    if (unknown === undefined) return undefined;
    await refuseAboveLimits(transaction, limits ?? NO_LIMITS, { ...restart, owner: unknown.owner });
    const moved = await transaction
      .updateTable("research_tasks")
      .set({
        status: "pending",
        lease_owner: restart.processId,
        lease_until: restart.now + START_LEASE_MS,
        updated_at: restart.now,
        ...NO_ERROR,
        joined_at: null,
        // What is paid for now gets its whole time.
        deadline_at: restart.deadlineAt,
      })
      .where("task_id", "=", restart.taskId)
      .where("status", "=", "start_unknown")
      .returning("task_id")
      .executeTakeFirst();
    if (moved === undefined) return undefined;
    await insertAttempt(transaction, { ...restart, attemptId });
    await queue?.checkStart(transaction, { taskId: restart.taskId, afterMs: START_LEASE_MS });
    return attemptId;
  });
}

export interface StartFailure {
  taskId: string;
  attemptId: string;
  /** `failed` and `cancelled` say that nothing was charged. */
  to: "failed" | "cancelled" | "start_unknown";
  error: { code: string; message: string };
  now: number;
}

/**
 * A restart that cost nothing leaves an earlier start as unknown as it was. The sender itself knows best: a run that
 * another process marked as unknown while the sender was suspended ends as the sender says.
 */
export function recordStartFailure(db: Database, failure: StartFailure): Promise<void> {
  const { taskId, attemptId, now } = failure;
  return db.transaction().execute(async (transaction) => {
    await lockRun(transaction, taskId);
    const earlier = await transaction
      .selectFrom("research_attempts")
      .select("attempt_id")
      .where("task_id", "=", taskId)
      .where("attempt_id", "!=", attemptId)
      .where("state", "=", "unknown")
      .executeTakeFirst();
    const { to, error } = earlier === undefined ? failure : stillUnknown(failure);
    await transaction
      .updateTable("research_attempts")
      .set({ state: failure.to === "start_unknown" ? "unknown" : "refused", answered_at: now })
      .where("attempt_id", "=", attemptId)
      .where("interaction_id", "is", null)
      .execute();
    await transaction
      .updateTable("research_tasks")
      .set({
        status: to,
        error_code: error.code,
        error_message: error.message,
        updated_at: now,
        lease_until: null,
        ...(to === "start_unknown" ? {} : { completed_at: now }),
        ...(to === "cancelled" ? { cancel_confirmed: 1 } : {}),
      })
      .where("task_id", "=", taskId)
      .where("status", "in", to === "start_unknown" ? ["pending"] : ["pending", "start_unknown"])
      // A sender that slept through a knowing restart has no say in the new attempt.
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("research_attempts")
              .select("attempt_id")
              .where("task_id", "=", taskId)
              .where("attempt_id", "!=", attemptId)
              .where("state", "=", "sending"),
          ),
        ),
      )
      .execute();
  });
}

function stillUnknown({ to, error }: StartFailure): Pick<StartFailure, "to" | "error"> {
  if (to === "start_unknown") return { to, error };
  const message = `${error.message} Whether the earlier start was taken is still unknown.`;
  return { to: "start_unknown", error: { code: "START_UNKNOWN", message } };
}

/**
 * Starts whose process may be gone: who sent them, and until when it was allowed to take. Also one that was cancelled
 * while it was sent: its run has no lease any more, and Google may have taken it.
 */
export async function pendingStarts(db: Database, taskId?: string) {
  const starts = db
    .selectFrom("research_tasks")
    .innerJoin("research_attempts", "research_attempts.task_id", "research_tasks.task_id")
    .select([
      "research_tasks.task_id as taskId",
      "research_attempts.attempt_id as attemptId",
      "research_tasks.lease_owner as leaseOwner",
      "research_tasks.lease_until as leaseUntil",
      "research_attempts.sent_at as sentAt",
    ])
    .where("research_tasks.status", "in", ["pending", "cancelled"])
    .where("research_tasks.kind", "=", "agent")
    .where("research_attempts.state", "=", "sending")
    .where("research_attempts.interaction_id", "is", null);
  const rows = await (taskId === undefined ? starts : starts.where("research_tasks.task_id", "=", taskId)).execute();
  return rows.map(({ sentAt, leaseUntil, ...start }) => ({
    ...start,
    leaseUntil: leaseUntil ?? (sentAt ?? 0) + START_LEASE_MS,
  }));
}

/** The call that started the run returns its end: a report makes it synchronous, and there is nothing left to notify. */
export function recordReturnedEnd(db: Database, taskId: string): Promise<void> {
  return db.transaction().execute(async (transaction) => {
    await transaction
      .updateTable("research_tasks")
      .set({ mode: "sync" })
      .where("task_id", "=", taskId)
      .where("status", "=", "completed")
      .execute();
    await withdraw(transaction, taskId);
  });
}
