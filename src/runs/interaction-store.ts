/** SQL for interaction ids: each paid interaction belongs to one attempt and is polled by one run. */

import type { Engine } from "./engine/engine.ts";
import type { Transaction } from "kysely";
import type { Database, Tables } from "../store/database.ts";
import { lockExclusive } from "../store/dialect.ts";
import { pollKeyOf } from "../store/processes.ts";
import { lineOf, standAlone, standAloneAgain } from "./conversation-store.ts";
import { reserveAgain, reserveLike } from "./ledger/ledger-store.ts";
import { lockRun } from "./lock-store.ts";
import { moveResult } from "./result-store.ts";
import { STORED_STATUSES } from "./run.ts";
import { maxWaitOf, parseOptions } from "./start/start-options.ts";
import { errorColumns, NO_ACTION, transition } from "./transition-store.ts";

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
    if (holder !== undefined)
      await undoAdoption(transaction, { interactionId, attemptId: holder.attempt_id, rightful: taskId, now });
    const isFirst = await setInteractionId(transaction, answer);
    // The user adopted another interaction for this start: both are paid for, and each has a run of its own.
    const owned = isFirst ? { taskId, attemptId } : await insertRunLike(transaction, { ...answer, taskId });
    await pollInteraction(transaction, { ...owned, interactionId, now, queue });
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
 * Assigns an id that the user found to an unknown start. False if the id belongs to another run, or the start is known by
 * now. One transaction, because another process may adopt the same id or restart the run concurrently.
 */
export function adoptInteractionId(db: Database, adoption: Adoption, queue?: Engine): Promise<boolean> {
  const { taskId, interactionId, deadlineAt, now } = adoption;
  return db.transaction().execute(async (transaction) => {
    await lockExclusive(transaction, `interaction:${interactionId}`);
    await lockRun(transaction, taskId);
    const holder = await attemptWith(transaction, interactionId);
    if (holder !== undefined) return holder.task_id === taskId;
    const unknown = await unknownAttempts(transaction, [taskId]).executeTakeFirst();
    if (unknown === undefined) return false;
    const { attempt_id: attemptId } = unknown;
    await setInteractionId(transaction, { attemptId, interactionId, now });
    await withdrawCancel(transaction, taskId);
    await pollInteraction(transaction, { taskId, interactionId, attemptId, now, queue });
    await transaction
      .updateTable("research_tasks")
      .set({ deadline_at: deadlineAt })
      .where("task_id", "=", taskId)
      .execute();
    return true;
  });
}

/** Adopting an id means that the user wants its report, so the cancel, which never reached Google, is withdrawn. */
async function withdrawCancel(transaction: Database, taskId: string): Promise<void> {
  const set = { cancel_requested_at: null, cancel_confirmed: null, completed_at: null, keep_partial: 1 as const };
  await transition(transaction, { taskId, to: "start_unknown", from: ["cancelled"], holder: "any", set })
    .where("interaction_id", "is", null)
    .execute();
}

/** Starts whose interaction id is unknown. An attempt that is being sent will get its own id. */
const unknownAttempts = (db: Database, taskIds: string[]) =>
  db
    .selectFrom("research_attempts")
    .select(["attempt_id", "task_id"])
    .where("task_id", "in", taskIds)
    .where("interaction_id", "is", null)
    .where("state", "=", "unknown");

/** The run whose start is unknown, of this one and those that it carries on: the one that the user names, or the newest. */
export async function unknownStartIn(db: Database, taskId: string, named = taskId): Promise<string | undefined> {
  const line = (await lineOf(db, taskId)).map(({ task_id }) => task_id);
  const unknown = new Set((await unknownAttempts(db, line).execute()).map(({ task_id }) => task_id));
  return unknown.has(named) ? named : line.findLast((id) => unknown.has(id));
}

/** Whether the interaction belongs to another run, of any owner. */
export async function isHeldByAnother(db: Database, interactionId: string, taskId: string): Promise<boolean> {
  const holder = await attemptWith(db, interactionId);
  return holder !== undefined && holder.task_id !== taskId;
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
  // It may have counted as refused.
  if (numUpdatedRows > 0n) await reserveAgain(transaction, answer.attemptId);
  return numUpdatedRows > 0n;
}

/** Also true for the run of a second interaction of this start. */
async function isOfRun(db: Database, holder: { task_id: string }, taskId: string): Promise<boolean> {
  if (holder.task_id === taskId) return true;
  const second = db.selectFrom("research_tasks").select("task_id").where("task_id", "=", holder.task_id);
  return (await second.where("parent_task_id", "=", taskId).executeTakeFirst()) !== undefined;
}

/** A run for a second interaction of a start, and its attempt. */
async function insertRunLike(
  transaction: Database,
  { taskId, attemptId, interactionId, now }: AnsweredAttempt & { taskId: string },
): Promise<{ taskId: string; attemptId: string }> {
  const own = { taskId: crypto.randomUUID(), attemptId: crypto.randomUUID() };
  const runs = transaction.selectFrom("research_tasks").where("task_id", "=", taskId);
  const run = await runs
    .select(["owner", "kind", "part", "query", "mode", "backend", "model", "options_json", "estimate_json"])
    .select(["followup_context", "parent_task_id", "client", "enable_notifications"])
    .executeTakeFirstOrThrow();
  const attempts = transaction.selectFrom("research_attempts").where("attempt_id", "=", attemptId);
  const sent = await attempts.select(["sent_at", "key_fingerprint", "base_url"]).executeTakeFirstOrThrow();
  const attempt = { ...sent, state: "accepted", created_at: now, answered_at: now };
  const deadline_at = now + maxWaitOf(parseOptions(run.options_json));
  const times = { created_at: now, started_at: now, updated_at: now, deadline_at };
  await transaction
    .insertInto("research_tasks")
    // No join key: a call with the same question joins the first run.
    .values({ ...run, ...times, task_id: own.taskId, parent_task_id: taskId, status: "pending" })
    .execute();
  await transaction
    .insertInto("research_attempts")
    .values({ ...attempt, attempt_id: own.attemptId, task_id: own.taskId, interaction_id: interactionId })
    .execute();
  await reserveLike(transaction, { entryId: own.attemptId, like: attemptId, taskId: own.taskId, at: now });
  return own;
}

interface AcceptedInteraction extends Pick<Adoption, "taskId" | "interactionId" | "now"> {
  attemptId: string;
  queue: Engine | undefined;
}

/** Makes the run poll its interaction. A run that was sent in its place, while its start was unknown, is another one. */
async function pollInteraction(transaction: Database, accepted: AcceptedInteraction): Promise<void> {
  const { taskId, interactionId, attemptId, now, queue } = accepted;
  const key = await pollKeyOfAttempt(transaction, attemptId);
  await standAlone(transaction, taskId);
  await standAloneAgain(transaction, taskId);
  await transaction
    .updateTable("research_tasks")
    .set({ interaction_id: interactionId, poll_key: key, updated_at: now })
    .where("task_id", "=", taskId)
    .execute();
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

const NOT_ITS_OWN = errorColumns({
  code: "START_UNKNOWN",
  message:
    "The interaction that this run had adopted belongs to another run. It is unknown again whether Google accepted its own start.",
});

/**
 * The user adopted an id for the wrong start. Its text goes to the run that it belongs to, because Google may have deleted
 * it by now. The adopter is unknown again, since its own start may be charged; a cancelled run stays cancelled. A poll in
 * flight stores nothing: it names its interaction.
 */
async function undoAdoption(
  transaction: Transaction<Tables>,
  { interactionId, attemptId, rightful, now }: AnsweredAttempt & { rightful: string },
): Promise<void> {
  await transaction
    .updateTable("research_attempts")
    .set({ interaction_id: null, state: "unknown", answered_at: null })
    .where("attempt_id", "=", attemptId)
    .execute();
  await reserveAgain(transaction, attemptId);
  const adopters = await transaction
    .updateTable("research_tasks")
    .set({ interaction_id: null, next_poll_at: null, lease_until: null, progress: 0, ...NO_ACTION, updated_at: now })
    .set({ tokens_input: 0, tokens_output: 0, usage_final: 0 })
    .where("interaction_id", "=", interactionId)
    .returning("task_id")
    .execute();
  for (const { task_id: taskId } of adopters) {
    await transition(transaction, {
      taskId,
      to: "start_unknown",
      // It reached its state by reading an interaction that is not its own.
      from: [],
      alsoFrom: STORED_STATUSES.filter((status) => status !== "cancelled"),
      holder: "any",
      set: { completed_at: null, ...NOT_ITS_OWN },
    }).execute();
    await transaction
      .updateTable("research_tasks")
      .set({ cancel_confirmed: 0 })
      .where("task_id", "=", taskId)
      .where("status", "=", "cancelled")
      .execute();
    await transaction.deleteFrom("research_events").where("task_id", "=", taskId).execute();
    await moveResult(transaction, { from: taskId, to: rightful, now });
  }
}
