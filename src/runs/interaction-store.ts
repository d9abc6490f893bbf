/** SQL for interaction ids: each paid interaction belongs to one attempt and is polled by one run. */

import type { Engine } from "./engine/engine.ts";
import type { Database, Tables } from "../store/database.ts";
import { lockExclusive } from "../store/dialect.ts";
import { pollKeyOf } from "../store/processes.ts";
import { detachInteraction } from "./start/detach-store.ts";
import { currentAttempt } from "./attempt-store.ts";
import { lockRun } from "./lock-store.ts";
import { NO_USAGE, type RunPlan } from "./plan/run-plan.ts";
import { maxWaitOf, parseOptions } from "./start/start-options.ts";
import { errorColumns, transition } from "./transition-store.ts";

interface AnsweredAttempt {
  attemptId: string;
  interactionId: string;
  now: number;
}

/**
 * Stores the interaction id that Google returned for a start. This write is not fenced: a paid id is kept in whatever
 * state the run is by now. Returns false if the id is stored already or the attempt has another one.
 */
export function saveInteractionId(db: Database, answer: AnsweredAttempt, queue?: Engine): Promise<boolean> {
  const { attemptId, interactionId, now } = answer;
  return db.transaction().execute(async (transaction) => {
    await lockExclusive(transaction, `interaction:${interactionId}`);
    const attempts = transaction.selectFrom("research_attempts").selectAll();
    const known = await attempts.where("attempt_id", "=", attemptId).executeTakeFirst();
    if (known === undefined) return false;
    const { task_id: taskId } = known;
    const adopter = (await attemptWith(transaction, interactionId))?.task_id ?? taskId;
    // Runs before attempts, and in sorted order, so that two transactions cannot deadlock.
    for (const id of [...new Set([taskId, adopter])].toSorted()) await lockRun(transaction, id);
    const holder = await attemptWith(transaction, interactionId);
    if (holder !== undefined && (await isOfRun(transaction, holder, taskId))) return false;
    // Another run adopted the id, but Google's response to this start proves that it belongs here.
    if (holder !== undefined) {
      await detachInteraction(transaction, { interactionId, attemptId: holder.attempt_id, now });
    }
    const isFirst = await setInteractionId(transaction, answer);
    const owned = isFirst ? attemptId : await insertSecondAttempt(transaction, { ...answer, taskId });
    await pollInteraction(transaction, { taskId, interactionId, attemptId: owned, now, queue, origin: "answer" });
    return isFirst;
  });
}

export interface Adoption {
  taskId: string;
  interactionId: string;
  /** An adopted run gets its full waiting time, counted from now. */
  deadlineAt: number;
  now: number;
}

/**
 * Assigns an id that the user found to a run; returns the run that polls it, or undefined if the id belongs to another
 * run. One transaction, because another process may adopt the same id or restart the run concurrently.
 */
export function adoptInteractionId(db: Database, adoption: Adoption, queue?: Engine): Promise<string | undefined> {
  const { taskId, interactionId, deadlineAt, now } = adoption;
  return db.transaction().execute(async (transaction) => {
    await lockExclusive(transaction, `interaction:${interactionId}`);
    await lockRun(transaction, taskId);
    const holder = await attemptWith(transaction, interactionId);
    if (holder !== undefined) {
      return (await isOfRun(transaction, holder, taskId)) ? runOfInteraction(transaction, interactionId) : undefined;
    }
    const unknown = await transaction
      .selectFrom("research_attempts")
      .select("attempt_id")
      .where("task_id", "=", taskId)
      .where("interaction_id", "is", null)
      // An attempt that is being sent will get its own id.
      .where("state", "=", "unknown")
      .orderBy("created_at", "desc")
      .limit(1)
      .executeTakeFirst();
    const attemptId = unknown?.attempt_id ?? (await insertSecondAttempt(transaction, { taskId, interactionId, now }));
    if (unknown !== undefined)
      await setInteractionId(transaction, { attemptId: unknown.attempt_id, interactionId, now });
    await withdrawCancel(transaction, taskId);
    await pollInteraction(transaction, { taskId, interactionId, attemptId, now, queue, origin: "adoption" });
    await transaction
      .updateTable("research_tasks")
      .set({ deadline_at: deadlineAt })
      .where("task_id", "=", taskId)
      .where("interaction_id", "=", interactionId)
      .execute();
    return runOfInteraction(transaction, interactionId);
  });
}

/** Adopting an id means that the user wants its report, so the cancel, which never reached Google, is withdrawn. */
async function withdrawCancel(transaction: Database, taskId: string): Promise<void> {
  const set = { cancel_requested_at: null, cancel_confirmed: null, completed_at: null, keep_partial: 1 as const };
  await transition(transaction, { taskId, to: "start_unknown", from: ["cancelled"], holder: "any", set })
    .where("interaction_id", "is", null)
    .execute();
}

/** Whether a start of this run was sent whose interaction id is unknown. */
export async function hasUnknownAttempt(db: Database, taskId: string): Promise<boolean> {
  const found = db
    .selectFrom("research_attempts")
    .select("attempt_id")
    .where("task_id", "=", taskId)
    .where("interaction_id", "is", null)
    .where("state", "=", "unknown");
  return (await found.executeTakeFirst()) !== undefined;
}

async function runOfInteraction(db: Database, interactionId: string): Promise<string | undefined> {
  const run = db.selectFrom("research_tasks").select("task_id").where("interaction_id", "=", interactionId);
  return (await run.executeTakeFirst())?.task_id;
}

/** Whether the interaction belongs to another run, of any owner. */
export async function isHeldByAnother(db: Database, interactionId: string, taskId: string): Promise<boolean> {
  const holder = await attemptWith(db, interactionId);
  return holder !== undefined && !(await isOfRun(db, holder, taskId));
}

/** Also true for an attempt of the child run that polls a second interaction of this run. */
async function isOfRun(db: Database, holder: { task_id: string }, taskId: string): Promise<boolean> {
  if (holder.task_id === taskId) return true;
  const child = db.selectFrom("research_tasks").select("task_id").where("task_id", "=", holder.task_id);
  return (await child.where("parent_task_id", "=", taskId).executeTakeFirst()) !== undefined;
}

export const attemptWith = (db: Database, interactionId: string) =>
  db.selectFrom("research_attempts").selectAll().where("interaction_id", "=", interactionId).executeTakeFirst();

/** Returns false if the attempt has an interaction id already. */
async function setInteractionId(transaction: Database, answer: AnsweredAttempt): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable("research_attempts")
    .set({ interaction_id: answer.interactionId, state: "accepted", answered_at: answer.now })
    .where("attempt_id", "=", answer.attemptId)
    .where("interaction_id", "is", null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Adds an attempt to the run, because the attempt the id belongs to has another id or is unknown. */
async function insertSecondAttempt(
  transaction: Database,
  { taskId, interactionId, now }: Pick<Adoption, "taskId" | "interactionId" | "now">,
): Promise<string> {
  const newest = await currentAttempt(transaction, taskId);
  const attemptId = crypto.randomUUID();
  const own = { attempt_id: attemptId, interaction_id: interactionId, state: "accepted", answered_at: now };
  const noPlan = { plan_markdown: null, plan_expires_at: null, usage_json: null };
  if (newest === undefined) return attemptId;
  await transaction
    .insertInto("research_attempts")
    .values({ ...newest, ...noPlan, ...own })
    .execute();
  return attemptId;
}

interface AcceptedInteraction extends Pick<Adoption, "taskId" | "interactionId" | "now"> {
  attemptId: string;
  /** An adopted interaction is polled even if its run was cancelled. */
  origin: "answer" | "adoption";
  queue: Engine | undefined;
}

/** Makes the run poll the interaction, or a second run if the first one polls another interaction already. */
async function pollInteraction(transaction: Database, accepted: AcceptedInteraction): Promise<void> {
  const { taskId, interactionId, now, queue } = accepted;
  const key = await pollKeyOfAttempt(transaction, accepted.attemptId);
  const first = await transaction
    .updateTable("research_tasks")
    .set({ interaction_id: interactionId, poll_key: key, updated_at: now })
    .where("task_id", "=", taskId)
    .where("interaction_id", "is", null)
    .returning("task_id")
    .executeTakeFirst();
  if (first === undefined) return pollInSecondRun(transaction, accepted, key);
  const set = { next_poll_at: now, last_event_at: now, updated_at: now, lease_until: null, ...errorColumns(undefined) };
  await transition(transaction, { taskId, to: "running_async", holder: "any", set }).execute();
  // The run was cancelled before its id was known: the next poll sends the cancel to Google.
  await transaction
    .updateTable("research_tasks")
    .set({ next_poll_at: now })
    .where("task_id", "=", taskId)
    .where("status", "=", "cancelled")
    .where("cancel_confirmed", "=", 0)
    .execute();
  await queue?.schedule(transaction, [{ taskId, key }]);
}

/** The run is polled with the key and base URL that it was started with. */
async function pollKeyOfAttempt(transaction: Database, attemptId: string): Promise<string | null> {
  const attempt = await transaction
    .selectFrom("research_attempts")
    .select(["key_fingerprint", "base_url"])
    .where("attempt_id", "=", attemptId)
    .executeTakeFirst();
  if (attempt === undefined) return null;
  return pollKeyOf({ key: attempt.key_fingerprint ?? undefined, baseUrl: attempt.base_url ?? "" });
}

/** A run that was started twice has two paid interactions: the second one gets its own run. */
async function pollInSecondRun(
  transaction: Database,
  accepted: AcceptedInteraction,
  key: string | null,
): Promise<void> {
  const { taskId, interactionId, attemptId, now, queue } = accepted;
  const run = await transaction
    .selectFrom("research_tasks")
    .selectAll()
    .where("task_id", "=", taskId)
    .executeTakeFirst();
  if (run === undefined || (await runOfInteraction(transaction, interactionId)) !== undefined) return;
  const isCancelled = run.cancel_requested_at !== null && accepted.origin === "answer";
  const secondTaskId = crypto.randomUUID();
  await transaction
    .insertInto("research_tasks")
    .values({
      task_id: secondTaskId,
      parent_task_id: taskId,
      interaction_id: interactionId,
      poll_key: key,
      owner: run.owner,
      kind: run.kind,
      query: run.query,
      // No join key: a call with the same question joins the first run.
      status: isCancelled ? "cancelled" : "running_async",
      mode: "async",
      backend: run.backend,
      model: run.model,
      options_json: run.options_json,
      estimate_json: run.estimate_json,
      followup_context: run.followup_context,
      client: run.client,
      enable_notifications: run.enable_notifications,
      created_at: now,
      started_at: now,
      updated_at: now,
      completed_at: isCancelled ? now : null,
      deadline_at: now + maxWaitOf(parseOptions(run.options_json)),
      next_poll_at: now,
      last_event_at: now,
      cancel_requested_at: isCancelled ? run.cancel_requested_at : null,
      cancel_confirmed: isCancelled ? 0 : null,
      keep_partial: isCancelled ? run.keep_partial : 1,
      plan_json: await planOfSecondRun(transaction, run, attemptId),
    })
    .execute();
  // The attempt moves to the second run, so that deleting the first run does not affect it.
  await transaction
    .updateTable("research_attempts")
    .set({ task_id: secondTaskId })
    .where("attempt_id", "=", attemptId)
    .execute();
  await queue?.schedule(transaction, [{ taskId: secondTaskId, key }]);
}

/** The second interaction belongs to the turn of its attempt, which the run may have left by now. */
async function planOfSecondRun(
  transaction: Database,
  { plan_json }: Pick<Tables["research_tasks"], "plan_json">,
  attemptId: string,
): Promise<string | null> {
  const attempts = transaction.selectFrom("research_attempts").select(["turn", "is_planning"]);
  const attempt = await attempts.where("attempt_id", "=", attemptId).executeTakeFirst();
  if (plan_json === null || attempt === undefined) return null;
  const plan: RunPlan = { turn: attempt.turn, isPlanning: attempt.is_planning === 1, earlier: NO_USAGE };
  return JSON.stringify(plan);
}
