/** SQL that ends a background run, and reopens it for polling afterwards. */

import { enqueue } from "../../notifications/outbox.ts";
import { notificationFor, planNotification } from "../../notifications/desktop.ts";
import type { Transaction } from "kysely";
import type { Engine } from "../engine/engine.ts";
import type { Database, Tables } from "../../store/database.ts";
import { dropLine } from "../cancel/cancel-store.ts";
import { giveWay, lockWithOrigin, repeatsUnknown } from "../conversation-store.ts";
import { costColumns } from "../run-row.ts";
import { lockRun } from "../lock-store.ts";
import type { PolledRun } from "../run.ts";
import { withLongestText } from "./longest-text.ts";
import { findResult, mayKeepText, saveResult, recordFigures } from "../result-store.ts";
import { findPictures } from "../file-store.ts";
import type { NewResult, Run } from "../run.ts";
import { endColumns, type Ending, type Transition, transition } from "../transition-store.ts";

export interface AgentFinish extends Ending {
  run: Pick<PolledRun, "taskId" | "interactionId" | "createdAt" | "part" | "cancelRequestedAt">;
  /** The run was cancelled here before, and Google confirms it now. */
  confirmsCancel?: boolean;
  /** Of a complete plan. */
  planExpiresAt?: number | undefined;
  raw?: Uint8Array | undefined;
  cancelConfirmed?: boolean;
  /** When to poll once more, for usage that arrives late or a cancel that Google has not confirmed. */
  nextPollAt?: number | undefined;
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
      // The research of a plan has not begun.
      ...(finish.planExpiresAt === undefined ? {} : { deadline_at: finish.planExpiresAt, progress: 0 }),
      ...(finish.cancelConfirmed === undefined ? {} : { cancel_confirmed: finish.cancelConfirmed ? 1 : 0 }),
    };
    const from = finish.confirmsCancel === true ? (["cancelled"] as const) : undefined;
    const updated = await transition(transaction, { taskId, to: finish.to, from, holder: "any", set })
      .where("interaction_id", "=", interactionId)
      // Cancelled while its answer was on its way, a plan is not offered for approval: the next poll ends it so.
      .$if(part === "plan" && run.cancelRequestedAt === undefined, (update) =>
        update.where("cancel_requested_at", "is", null),
      )
      .returning(["query", "enable_notifications", "keep_partial", "caller_waits_until"])
      .executeTakeFirst();
    if (updated === undefined) return false;
    if (finish.to === "cancelled" && updated.keep_partial === 0) {
      await dropLine(transaction, taskId);
    } else if (finish.result !== undefined) {
      const result = withLongestText(await storedDraft(transaction, taskId), finish.result);
      await saveResult(transaction, { taskId, query: updated.query, result, raw, now, isSearched: part !== "plan" });
    }
    if (finish.to === "failed" && part === "plan" && origin !== undefined && run.cancelRequestedAt === undefined) {
      // However a change of a plan fails, the plan before it waits for approval again.
      const error = { code: "RESEARCH_FAILED", message: CHANGE_FAILED };
      if (!(await repeatsUnknown(transaction, origin))) {
        await giveWay(transaction, { taskId, origin, error, now });
        return true;
      }
    }
    await recordFigures(transaction, taskId);
    if (updated.enable_notifications === 1) await announce(transaction, finish, updated.caller_waits_until);
    return true;
  });
}

async function announce(
  transaction: Transaction<Tables>,
  { run: { taskId, createdAt, part }, to, error, now }: AgentFinish,
  callerWaitsUntil: number | null,
): Promise<void> {
  if (to === "cancelled") return;
  const isPlan = part === "plan" && to === "completed";
  const ended = { taskId, outcome: to, durationMs: now - createdAt, reason: error?.message };
  const payload = isPlan ? planNotification(taskId) : notificationFor(ended);
  const kind = isPlan ? "plan" : to;
  await enqueue(transaction, { taskId, channel: "desktop", kind, payload, now, callerWaitsUntil });
}

const CHANGE_FAILED = "Google did not return a changed plan. The plan before it is still waiting for approval.";

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

/** Not if the run has lost the interaction, which belonged to another run: then it may be polling its own. */
export async function recordLateUsage(
  db: Database,
  { taskId, interactionId }: Pick<PolledRun, "taskId" | "interactionId">,
  { tokens, cost, now }: Pick<Run, "tokens" | "cost"> & { now: number },
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable("research_tasks")
    .set({
      next_poll_at: null,
      lease_until: null,
      tokens_input: tokens.input,
      tokens_output: tokens.output,
      ...costColumns(cost),
      usage_final: 1,
      updated_at: now,
    })
    .where("task_id", "=", taskId)
    .where("interaction_id", "=", interactionId)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await recordFigures(db, taskId);
}

/** Polls a failed run again until the deadline; only a finished report changes its state. */
export async function reopen(
  db: Database,
  taskId: string,
  { now, deadlineAt, queue }: { now: number; deadlineAt: number; queue: Engine },
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
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
  });
}
