/** The SQL of interaction ids: each one that was paid for belongs to one attempt, and is followed by one run. */

import { z } from "zod";
import type { PollQueue } from "../queue/queue.ts";
import type { Database } from "../store/database.ts";
import { lockExclusive } from "../store/dialect.ts";
import { pollKeyOf } from "../store/poll-key.ts";
import { detachInteraction } from "./start/detach-store.ts";
import { lockRun } from "./lock-store.ts";
import { maxWaitOf } from "./start/max-wait.ts";
import { statesBefore } from "./run.ts";

const anyRecord = z.record(z.string(), z.unknown());
const NO_ERROR = { error_code: null, error_message: null };

/** An attempt whose id was found to belong to another one. It alone may repeat an id. */
const DUPLICATE = "duplicate";

interface AnsweredAttempt {
  attemptId: string;
  interactionId: string;
  now: number;
}

/**
 * Stores the id with which Google answered a start. Whatever happened to the run meanwhile, an id that was paid for is
 * kept: this write alone is not fenced. False when it is known already, or the attempt has another one.
 */
export function saveInteractionId(db: Database, answer: AnsweredAttempt, queue?: PollQueue): Promise<boolean> {
  const { attemptId, interactionId, now } = answer;
  return db.transaction().execute(async (transaction) => {
    await lockExclusive(transaction, `interaction:${interactionId}`);
    // The run before its attempt, as everywhere: two that lock in different order would wait for each other.
    const attempts = transaction.selectFrom("research_attempts").selectAll();
    const known = await attempts.where("attempt_id", "=", attemptId).executeTakeFirst();
    if (known === undefined) return false;
    const { task_id: taskId } = known;
    const adopter = (await attemptWith(transaction, interactionId))?.task_id ?? taskId;
    // Always in the same order: two that lock in different order would wait for each other.
    for (const id of [...new Set([taskId, adopter])].toSorted()) await lockRun(transaction, id);
    const holder = await attemptWith(transaction, interactionId);
    if (holder !== undefined && (await isOfRun(transaction, holder, taskId))) return false;
    // Another run adopted it. That this start was answered with it proves whose it is.
    if (holder !== undefined) {
      await detachInteraction(transaction, { interactionId, attemptId: holder.attempt_id, now });
    }
    const isFirst = await giveToAttempt(transaction, answer);
    const owned = isFirst ? attemptId : await insertSecondAttempt(transaction, { ...answer, taskId });
    await follow(transaction, { taskId, interactionId, attemptId: owned, now, queue, origin: "answer" });
    return isFirst;
  });
}

export interface Adoption {
  taskId: string;
  interactionId: string;
  /** An adopted run gets its whole time from now on. */
  deadlineAt: number;
  now: number;
}

/**
 * Gives a run the id that its user found; returns the run that follows it. Undefined: the id belongs to another run.
 * Decided in one transaction, because another process may adopt the same id, or start the run again, at the same moment.
 */
export function adoptInteractionId(db: Database, adoption: Adoption, queue?: PollQueue): Promise<string | undefined> {
  const { taskId, interactionId, deadlineAt, now } = adoption;
  return db.transaction().execute(async (transaction) => {
    await lockExclusive(transaction, `interaction:${interactionId}`);
    await lockRun(transaction, taskId);
    const holder = await attemptWith(transaction, interactionId);
    if (holder !== undefined) {
      return (await isOfRun(transaction, holder, taskId)) ? followerOf(transaction, interactionId) : undefined;
    }
    const unknown = await transaction
      .selectFrom("research_attempts")
      .select("attempt_id")
      .where("task_id", "=", taskId)
      .where("interaction_id", "is", null)
      // Not one that is being sent: its own id is still to come.
      .where("state", "=", "unknown")
      .orderBy("created_at", "desc")
      .limit(1)
      .executeTakeFirst();
    const attemptId = unknown?.attempt_id ?? (await insertSecondAttempt(transaction, { taskId, interactionId, now }));
    if (unknown !== undefined) await giveToAttempt(transaction, { attemptId: unknown.attempt_id, interactionId, now });
    await withdrawCancel(transaction, taskId);
    await follow(transaction, { taskId, interactionId, attemptId, now, queue, origin: "adoption" });
    await transaction
      .updateTable("research_tasks")
      .set({ deadline_at: deadlineAt })
      .where("task_id", "=", taskId)
      .where("interaction_id", "=", interactionId)
      .execute();
    return followerOf(transaction, interactionId);
  });
}

/**
 * Who adopts an id wants its report: the cancel of a start that nobody could find is taken back. It never reached
 * Google.
 */
async function withdrawCancel(transaction: Database, taskId: string): Promise<void> {
  await transaction
    .updateTable("research_tasks")
    .set({
      status: "start_unknown",
      cancel_requested_at: null,
      cancel_confirmed: null,
      completed_at: null,
      keep_partial: 1,
    })
    .where("task_id", "=", taskId)
    .where("status", "=", "cancelled")
    .where("interaction_id", "is", null)
    .execute();
}

/** A start of this run was sent, and its id is not known. */
export async function hasUnknownAttempt(db: Database, taskId: string): Promise<boolean> {
  const found = db
    .selectFrom("research_attempts")
    .select("attempt_id")
    .where("task_id", "=", taskId)
    .where("interaction_id", "is", null)
    .where("state", "=", "unknown");
  return (await found.executeTakeFirst()) !== undefined;
}

async function followerOf(db: Database, interactionId: string): Promise<string | undefined> {
  const run = db.selectFrom("research_tasks").select("task_id").where("interaction_id", "=", interactionId);
  return (await run.executeTakeFirst())?.task_id;
}

/** An interaction belongs to one run, whoever may know its id. */
export async function isHeldByAnother(db: Database, interactionId: string, taskId: string): Promise<boolean> {
  const holder = await attemptWith(db, interactionId);
  return holder !== undefined && !(await isOfRun(db, holder, taskId));
}

/** Also of the run that follows a second interaction of this one. */
async function isOfRun(db: Database, holder: { task_id: string }, taskId: string): Promise<boolean> {
  if (holder.task_id === taskId) return true;
  const child = db.selectFrom("research_tasks").select("task_id").where("task_id", "=", holder.task_id);
  return (await child.where("parent_task_id", "=", taskId).executeTakeFirst()) !== undefined;
}

/** The attempt that an interaction belongs to. */
export const attemptWith = (db: Database, interactionId: string) =>
  db
    .selectFrom("research_attempts")
    .selectAll()
    .where("interaction_id", "=", interactionId)
    .where("state", "!=", DUPLICATE)
    .executeTakeFirst();

/** False: it has one already. */
async function giveToAttempt(transaction: Database, answer: AnsweredAttempt): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable("research_attempts")
    .set({ interaction_id: answer.interactionId, state: "accepted", answered_at: answer.now })
    .where("attempt_id", "=", answer.attemptId)
    .where("interaction_id", "is", null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Beside the run's other attempts: the one it would belong to has another id, or is not known. */
async function insertSecondAttempt(
  transaction: Database,
  { taskId, interactionId, now }: Pick<Adoption, "taskId" | "interactionId" | "now">,
): Promise<string> {
  const newest = await transaction
    .selectFrom("research_attempts")
    .selectAll()
    .where("task_id", "=", taskId)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  const attemptId = crypto.randomUUID();
  const own = { attempt_id: attemptId, interaction_id: interactionId, state: "accepted", answered_at: now };
  if (newest === undefined) return attemptId;
  await transaction
    .insertInto("research_attempts")
    .values({ ...newest, ...own })
    .execute();
  return attemptId;
}

interface Followed extends Pick<Adoption, "taskId" | "interactionId" | "now"> {
  /** The attempt that the id belongs to. */
  attemptId: string;
  /** An id that a user adopts is wanted, even if its run was cancelled. */
  origin: "answer" | "adoption";
  queue: PollQueue | undefined;
}

/** By the run that it was started for, or by a second one where that follows another interaction already. */
async function follow(transaction: Database, followed: Followed): Promise<void> {
  const { taskId, interactionId, now, queue } = followed;
  const key = await pollKeyOfAttempt(transaction, followed.attemptId);
  const first = await transaction
    .updateTable("research_tasks")
    .set({ interaction_id: interactionId, poll_key: key, updated_at: now })
    .where("task_id", "=", taskId)
    .where("interaction_id", "is", null)
    .returning("task_id")
    .executeTakeFirst();
  if (first === undefined) return followSeparately(transaction, followed, key);
  await transaction
    .updateTable("research_tasks")
    .set({
      status: "running_async",
      next_poll_at: now,
      last_event_at: now,
      updated_at: now,
      lease_until: null,
      ...NO_ERROR,
    })
    .where("task_id", "=", taskId)
    .where("status", "in", statesBefore("running_async"))
    .execute();
  // Cancelled before there was anything to cancel: Google still has to be told.
  await transaction
    .updateTable("research_tasks")
    .set({ next_poll_at: now })
    .where("task_id", "=", taskId)
    .where("status", "=", "cancelled")
    .where("cancel_confirmed", "=", 0)
    .execute();
  await queue?.schedule(transaction, [{ taskId, key }]);
}

/** What the run has to be polled with: what it was started with. */
async function pollKeyOfAttempt(transaction: Database, attemptId: string): Promise<string | null> {
  const attempt = await transaction
    .selectFrom("research_attempts")
    .select(["key_fingerprint", "base_url"])
    .where("attempt_id", "=", attemptId)
    .executeTakeFirst();
  if (attempt === undefined) return null;
  return pollKeyOf({ key: attempt.key_fingerprint ?? undefined, baseUrl: attempt.base_url ?? "" });
}

/** A run that was started twice has two interactions, both paid for: the second one gets a run of its own. */
async function followSeparately(transaction: Database, followed: Followed, key: string | null): Promise<void> {
  const { taskId, interactionId, now, queue } = followed;
  const run = await transaction
    .selectFrom("research_tasks")
    .selectAll()
    .where("task_id", "=", taskId)
    .executeTakeFirst();
  if (run === undefined || (await followerOf(transaction, interactionId)) !== undefined) return;
  const isCancelled = run.cancel_requested_at !== null && followed.origin === "answer";
  const taskIdOfSecond = crypto.randomUUID();
  await transaction
    .insertInto("research_tasks")
    .values({
      task_id: taskIdOfSecond,
      parent_task_id: taskId,
      interaction_id: interactionId,
      poll_key: key,
      owner: run.owner,
      kind: run.kind,
      query: run.query,
      // Without a join key: the same question joins the first one, which is what the user asked for.
      status: isCancelled ? "cancelled" : "running_async",
      progress: 0,
      mode: "async",
      backend: run.backend,
      model: run.model,
      options_json: run.options_json,
      estimate_json: run.estimate_json,
      client: run.client,
      enable_notifications: run.enable_notifications,
      created_at: now,
      started_at: now,
      updated_at: now,
      completed_at: isCancelled ? now : null,
      deadline_at: now + maxWaitOf(anyRecord.parse(JSON.parse(run.options_json))),
      lease_epoch: 0,
      next_poll_at: now,
      last_event_at: now,
      cancel_requested_at: isCancelled ? run.cancel_requested_at : null,
      cancel_confirmed: isCancelled ? 0 : null,
      keep_partial: isCancelled ? run.keep_partial : 1,
      tokens_input: 0,
      tokens_output: 0,
      usage_final: 0,
    })
    .execute();
  // With its run: what is done to the first one, such as deleting it, is not done to this.
  await transaction
    .updateTable("research_attempts")
    .set({ task_id: taskIdOfSecond })
    .where("attempt_id", "=", followed.attemptId)
    .execute();
  await queue?.schedule(transaction, [{ taskId: taskIdOfSecond, key }]);
}
