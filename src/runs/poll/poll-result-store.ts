/** SQL that ends a background run with its longest text, and reopens it for polling afterwards. */

import { announce } from "../../notifications/announce.ts";
import { notificationFor, planNotification } from "../../notifications/desktop.ts";
import type { Selectable, Transaction } from "kysely";
import type { Engine } from "../engine/engine.ts";
import type { Database, Tables } from "../../store/database.ts";
import { dropLine } from "../cancel/cancel-store.ts";
import { giveWay, lockWithOrigin, otherIdsOf, repeatsUnknown, standAloneAgain } from "../conversation-store.ts";
import { settleInteraction } from "../ledger/ledger-store.ts";
import { lockRun } from "../lock-store.ts";
import type { NewResult, PolledRun, Run } from "../run.ts";
import { findResult, mayKeepText, recordFigures, saveResult } from "../result-store.ts";
import { findPictures } from "../file-store.ts";
import { endColumns, type Ending, type Transition, transition } from "../transition-store.ts";
import { z } from "zod";
import { withinPictureBounds } from "../../reports/pictures/keep.ts";
import type { Picture } from "../../reports/pictures/picture.ts";

export interface AgentFinish extends Ending {
  run: Pick<PolledRun, "taskId" | "interactionId" | "createdAt" | "part" | "cancelRequestedAt">;
  /** The run was cancelled here before, and Google confirms it now. */
  confirmsCancel?: boolean;
  raw?: Uint8Array | undefined;
  cancelConfirmed?: boolean;
  /** When to poll once more, for usage that arrives late or a cancel that Google has not confirmed. */
  nextPollAt?: number | undefined;
  /** Changed where Google has ended the run. */
  deadlineAt?: number | undefined;
}

/** Stores result, usage, cost, status and notification in one transaction. False if the run has changed meanwhile. */
export function finishAgentRun(db: Database, finish: AgentFinish): Promise<boolean> {
  const { run, raw, now } = finish;
  const { taskId, interactionId, part } = run;
  return db.transaction().execute(async (transaction) => {
    const origin = await lockWithOrigin(transaction, taskId);
    const { completed_at, error_code, error_message, ...columns } = endColumns(finish);
    const set: Transition["set"] = {
      ...columns,
      // Google's confirmation of a cancel changes neither the time at which the run ended nor the reason.
      ...(finish.confirmsCancel === true ? {} : { completed_at, error_code, error_message }),
      next_poll_at: finish.nextPollAt ?? null,
      deadline_at: finish.deadlineAt,
      ...(isOpenPlan(finish) ? { progress: 0 } : {}),
      // The failure before it may have been announced.
      ...(finish.to === "completed" ? { announced: null } : {}),
      ...(finish.cancelConfirmed === undefined ? {} : { cancel_confirmed: finish.cancelConfirmed ? 1 : 0 }),
    };
    const from = finish.confirmsCancel === true ? (["cancelled"] as const) : undefined;
    const updated = await transition(transaction, { taskId, to: finish.to, from, holder: "any", set })
      .where("interaction_id", "=", interactionId)
      // Cancelled while its answer was on its way, a plan is not offered for approval: the next poll ends it so.
      .$if(part === "plan" && run.cancelRequestedAt === undefined, (update) =>
        update.where("cancel_requested_at", "is", null),
      )
      .returning([
        "owner",
        "query",
        "title",
        "enable_notifications",
        "keep_partial",
        "caller_waits_until",
        "schedule_id",
      ])
      .executeTakeFirst();
    if (updated === undefined) return false;
    if (finish.cost !== undefined) await settleInteraction(transaction, { interactionId, cost: finish.cost, now });
    if (finish.to === "cancelled" && updated.keep_partial === 0) {
      await dropLine(transaction, taskId);
    } else if (finish.result !== undefined) {
      const result = withLongestText(await storedDraft(transaction, taskId), finish.result);
      await saveResult(transaction, { taskId, query: updated.query, result, raw, now, isSearched: part !== "plan" });
    }
    if (finish.to === "failed" && part === "plan" && origin !== undefined && run.cancelRequestedAt === undefined) {
      // However a change of a plan fails, what it was made from is open again: the plan, or the change whose start is unknown.
      const message = (await repeatsUnknown(transaction, origin))
        ? NO_CHANGED_PLAN
        : `${NO_CHANGED_PLAN} ${STILL_WAITING}`;
      const error = { code: "RESEARCH_FAILED", message };
      await giveWay(transaction, { taskId, origin, error, nextPollAt: finish.nextPollAt, now });
      return true;
    }
    if (finish.to === "completed") await standAloneAgain(transaction, taskId);
    await recordFigures(transaction, taskId);
    await announceEnd(transaction, finish, updated);
    return true;
  });
}

/** The research of the plan has not begun. */
const isOpenPlan = ({ run, to }: AgentFinish): boolean => run.part === "plan" && to === "completed";

type Ended = Pick<
  Selectable<Tables["research_tasks"]>,
  "owner" | "query" | "title" | "enable_notifications" | "caller_waits_until" | "schedule_id"
>;

async function announceEnd(transaction: Transaction<Tables>, finish: AgentFinish, ended: Ended): Promise<void> {
  const { run, to, error, cost, now } = finish;
  const { taskId, createdAt } = run;
  if (to === "cancelled") return;
  const isPlan = isOpenPlan(finish);
  // On the desktop, such a report is announced by what changed since the one before it.
  const isOfSchedule = to === "completed" && ended.schedule_id !== null;
  const outcome = { taskId, outcome: to, durationMs: now - createdAt, reason: error?.message };
  await announce(transaction, {
    taskId,
    owner: ended.owner,
    title: ended.title ?? ended.query,
    earlierIds: () => otherIdsOf(transaction, taskId),
    kind: isPlan ? "plan" : to,
    notification: isPlan ? planNotification(taskId) : notificationFor(outcome),
    onDesktop: ended.enable_notifications === 1 && !isOfSchedule,
    status: isPlan ? "awaiting_approval" : to,
    costUsd: cost?.usd,
    now,
    callerWaitsUntil: ended.caller_waits_until,
  });
}

const NO_CHANGED_PLAN = "Google did not return a changed plan.";
const STILL_WAITING = "The plan before it is still waiting for approval.";

/** The result stored so far, with the bytes of its pictures. */
async function storedDraft(transaction: Database, taskId: string): Promise<NewResult | undefined> {
  const result = await findResult(transaction, taskId);
  return result && { ...result, pictures: await findPictures(transaction, taskId) };
}

interface LaterText {
  run: Pick<PolledRun, "taskId" | "interactionId">;
  result: NewResult;
  raw: Uint8Array | undefined;
  now: number;
}

/** Stores the text of a failed or cancelled run if it is longer, unless the user chose to keep no text. */
export function keepLaterText(db: Database, { run, result, raw, now }: LaterText): Promise<void> {
  const { taskId } = run;
  return db.transaction().execute(async (transaction) => {
    await lockRun(transaction, taskId);
    if (!(await mayKeepText(transaction, run))) return;
    const stored = await storedDraft(transaction, taskId);
    if (stored !== undefined && stored.report.trim().length >= result.report.trim().length) return;
    const row = await transaction
      .selectFrom("research_tasks")
      .select("query")
      .where("task_id", "=", taskId)
      .where("status", "in", ["failed", "cancelled"])
      .executeTakeFirst();
    if (row === undefined) return;
    const longest = withLongestText(stored, result);
    await saveResult(transaction, { taskId, query: row.query, result: longest, raw, now });
    await recordFigures(transaction, taskId);
  });
}

interface LateUsage extends Pick<Run, "tokens" | "cost"> {
  searches?: number;
  now: number;
}

/** Ends the polling of the run. */
export const recordLateUsage = async (db: Database, run: RunOfUsage, usage: LateUsage): Promise<void> =>
  void (await recordUsage(db, run, { ...usage, alsoSet: { next_poll_at: null, lease_until: null } }));

type RunOfUsage = Pick<PolledRun, "taskId" | "interactionId">;

/**
 * Not if the run was deleted, or has lost the interaction, which belonged to another run: then it may be polling its own.
 * Returns whether it was stored. A user may have reopened the run: only a poll ends its polling.
 */
export function recordUsage(
  db: Database,
  { taskId, interactionId }: RunOfUsage,
  { tokens, searches, cost, now, alsoSet = {} }: LateUsage & { alsoSet?: { next_poll_at?: null; lease_until?: null } },
): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable("research_tasks")
      .set({
        ...alsoSet,
        tokens_input: tokens.input,
        tokens_output: tokens.output,
        searches,
        usage_final: 1,
        updated_at: now,
      })
      .where("task_id", "=", taskId)
      .where("interaction_id", "=", interactionId)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await settleInteraction(transaction, { interactionId, cost, now });
    await recordFigures(transaction, taskId);
    return true;
  });
}

/** Polls a failed run again until the deadline; only a finished report changes its state. */
export async function reopen(
  db: Database,
  taskId: string,
  { now, deadlineAt, queue }: { now: number; deadlineAt: number; queue: Engine },
): Promise<void> {
  const reopened = await db.transaction().execute(async (transaction) => {
    const runs = await transaction
      .updateTable("research_tasks")
      .set({
        next_poll_at: now,
        lease_until: null,
        updated_at: now,
        // Fences a poll in flight, which may be about to stop polling the run.
        deadline_at: deadlineAt,
        // The user wants to see what it becomes.
        archived: 0,
      })
      .where("task_id", "=", taskId)
      .where("status", "=", "failed")
      .returning("poll_key as key")
      .execute();
    await queue.schedule(
      transaction,
      runs.map(({ key }) => ({ taskId, key })),
    );
    return runs;
  });
  // A poll for its usage may be scheduled already, for much later.
  for (const { key } of reopened) await queue.hasten({ taskId, key });
}

const texts = z.array(z.string()).catch([]);

/** Merges the final result of a run with the draft that was stored while it was running. */
export function withLongestText(stored: NewResult | undefined, next: NewResult): NewResult {
  if (stored === undefined || !isLonger(stored.report, next.report)) return next;
  // A finished report is the result even if it is shorter; the longer draft is kept in `earlier_outputs`.
  if (next.partial)
    return withPicturesOf(next, { ...stored, metadata: { ...stored.metadata, ...next.metadata }, partial: true });
  const earlier = texts.parse(next.metadata["earlier_outputs"]);
  const isKept = normalizeSpace([...earlier, next.report].join("\n")).includes(normalizeSpace(stored.report));
  const earlier_outputs = isKept ? earlier : [...earlier, stored.report];
  const metadata = isKept ? next.metadata : { ...next.metadata, earlier_outputs };
  return withPicturesOf(stored, { ...next, metadata });
}

const isLonger = (one: string, other: string): boolean => one.trim().length > other.trim().length;

/** Normalises white space, which may differ between the draft and the report. */
const normalizeSpace = (text: string): string => text.trim().replaceAll(/\s+/g, " ");

/** Appends pictures that only the other result has; their offsets refer to a different text. */
function withPicturesOf(other: NewResult, result: NewResult): NewResult {
  const own = result.pictures ?? [];
  const hashes = new Set(own.map(({ hash }) => hash));
  const offset = result.report.length;
  const added = (other.pictures ?? []).filter(({ hash }) => !hashes.has(hash));
  if (added.length === 0) return result;
  const all = [...own, ...added.map((picture): Picture => ({ ...picture, offset }))];
  return { ...result, pictures: withinPictureBounds(all).map((picture, index) => ({ ...picture, n: index + 1 })) };
}
