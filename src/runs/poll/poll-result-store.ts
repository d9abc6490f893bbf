/** SQL that ends a background run, and reopens it for polling afterwards. */

import { enqueue } from "../../notifications/outbox.ts";
import { notificationFor } from "../../notifications/desktop.ts";
import type { Engine } from "../engine/engine.ts";
import type { Database } from "../../store/database.ts";
import type { Cost } from "../../costs/actual.ts";
import { costColumns } from "../cost-columns.ts";
import { lockRun } from "../lock-store.ts";
import type { PolledRun } from "./polled-run.ts";
import { withLongestText } from "./longest-text.ts";
import { FIGURE_COLUMNS, recordFigures } from "../history/result-figures-store.ts";
import { dropPlans } from "../plan/plan-store.ts";
import { keepPlan, recordTurnUsage, type WrittenPlan } from "../plan/turn-store.ts";
import { findPictures } from "../picture-store.ts";
import { dropResult, findResult, mayKeepText, saveResult } from "../result-store.ts";
import type { NewResult } from "../run.ts";
import { endColumns, type Transition, transition } from "../transition-store.ts";

export interface AgentFinish {
  run: Pick<PolledRun, "taskId" | "epoch" | "createdAt" | "keepPartial">;
  to: "completed" | "failed" | "cancelled";
  /** The run was cancelled here before, and Google confirms it now. */
  confirmsCancel?: boolean;
  result?: NewResult | undefined;
  /** A plan that Google had written when the run was cancelled. */
  plan?: WrittenPlan;
  raw?: Uint8Array | undefined;
  error?: { code: string; message: string } | undefined;
  tokens?: { input: number; output: number } | undefined;
  cost?: Cost | undefined;
  usageFinal: boolean;
  cancelConfirmed?: boolean;
  /** When to poll once more, for usage that arrives late or a cancel that Google has not confirmed. */
  nextPollAt?: number | undefined;
  now: number;
}

/** Stores result, usage, cost, status and notification in one transaction. False if another process ended the run. */
export function finishAgentRun(db: Database, finish: AgentFinish): Promise<boolean> {
  const { run, raw, now } = finish;
  return db.transaction().execute(async (transaction) => {
    const { completed_at, error_code, error_message, ...columns } = endColumns(finish);
    const set: Transition["set"] = {
      ...columns,
      // Google's confirmation of a cancel changes neither the time at which the run ended nor the reason.
      ...(finish.confirmsCancel === true ? {} : { completed_at, error_code, error_message }),
      next_poll_at: finish.nextPollAt ?? null,
      ...(finish.cancelConfirmed === undefined ? {} : { cancel_confirmed: finish.cancelConfirmed ? 1 : 0 }),
    };
    const from = finish.confirmsCancel === true ? (["cancelled"] as const) : undefined;
    const { taskId, epoch } = run;
    const updated = await transition(transaction, { taskId, to: finish.to, from, holder: { epoch }, set })
      .returning(["query", "enable_notifications", "keep_partial", "caller_waits_until", ...FIGURE_COLUMNS])
      .executeTakeFirst();
    if (updated === undefined) return false;
    if (finish.to === "cancelled" && updated.keep_partial === 0) {
      await dropResult(transaction, run.taskId);
      await dropPlans(transaction, run.taskId);
      if (finish.plan !== undefined) await recordTurnUsage(transaction, finish.plan.run, finish.plan.usage);
    } else if (finish.plan !== undefined) {
      await keepPlan(transaction, finish.plan);
    } else if (finish.result !== undefined) {
      const result = withLongestText(await storedDraft(transaction, run.taskId), finish.result);
      await saveResult(transaction, { taskId: run.taskId, query: updated.query, result, raw, now });
    }
    await recordFigures(transaction, run.taskId, updated);
    if (updated.enable_notifications === 1 && finish.to !== "cancelled") {
      const payload = notificationFor({
        taskId: run.taskId,
        outcome: finish.to,
        durationMs: now - run.createdAt,
        reason: finish.error?.message,
      });
      const callerWaitsUntil = updated.caller_waits_until;
      await enqueue(transaction, {
        taskId: run.taskId,
        channel: "desktop",
        kind: finish.to,
        payload,
        now,
        callerWaitsUntil,
      });
    }
    return true;
  });
}

/** The result stored so far, with the bytes of its pictures. */
async function storedDraft(transaction: Database, taskId: string): Promise<NewResult | undefined> {
  const result = await findResult(transaction, taskId);
  return result && { ...result, pictures: await findPictures(transaction, taskId) };
}

interface LaterText {
  run: Pick<PolledRun, "taskId" | "epoch">;
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
      .select(["query", ...FIGURE_COLUMNS])
      .where("task_id", "=", taskId)
      .where("status", "in", ["failed", "cancelled"])
      .executeTakeFirst();
    if (row === undefined) return;
    const longest = withLongestText(stored, result);
    await saveResult(transaction, { taskId, query: row.query, result: longest, raw, now });
    await recordFigures(transaction, taskId, row);
  });
}

interface LateUsage {
  tokens: { input: number; output: number };
  cost: Cost;
  now: number;
}

export async function recordLateUsage(db: Database, taskId: string, { tokens, cost, now }: LateUsage): Promise<void> {
  const row = await db
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
    .returning(FIGURE_COLUMNS)
    .executeTakeFirst();
  if (row !== undefined) await recordFigures(db, taskId, row);
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
      .set((run) => ({
        next_poll_at: now,
        lease_until: null,
        // Fences a poll in flight, which may be about to stop polling the run.
        lease_epoch: run("lease_epoch", "+", 1),
        updated_at: now,
        deadline_at: deadlineAt,
        // The user wants to see what it becomes.
        archived: 0,
      }))
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
