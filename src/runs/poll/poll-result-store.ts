/** The SQL of how a background run ends, and of following it again afterwards. */

import { enqueue } from "../../notifications/outbox.ts";
import { notificationFor } from "../../notifications/desktop.ts";
import type { PollQueue } from "../../queue/queue.ts";
import type { Database } from "../../store/database.ts";
import type { Cost } from "../../costs/actual.ts";
import { costColumns } from "../cost-columns.ts";
import { lockRun } from "../lock-store.ts";
import type { FollowedRun } from "./followed-run.ts";
import { withLongestText } from "./longest-text.ts";
import { packRaw } from "./raw-json.ts";
import { FIGURE_COLUMNS, recordFigures } from "../history/result-figures-store.ts";
import { dropResult, findDraft, mayKeepText, saveResult } from "../result-store.ts";
import { type NewResult, type RunStatus, statesBefore } from "../run.ts";

export interface AgentFinish {
  run: Pick<FollowedRun, "taskId" | "epoch" | "createdAt" | "keepPartial">;
  to: "completed" | "failed" | "cancelled";
  /** The states it may come from; by default those of the table of legal moves. */
  from?: RunStatus[];
  result: NewResult | undefined;
  raw: unknown;
  error: { code: string; message: string } | undefined;
  tokens: { input: number; output: number } | undefined;
  cost: Cost | undefined;
  usageFinal: boolean;
  cancelConfirmed?: boolean;
  /** When to look once more, for usage that comes late or a cancel without Google's word. */
  nextPollAt: number | undefined;
  now: number;
}

/** Result, usage, cost, state and the notification are one transaction. False: somebody else decided already. */
export function finishAgentRun(db: Database, finish: AgentFinish): Promise<boolean> {
  const { run, now } = finish;
  const raw = packRaw(finish.raw);
  return db.transaction().execute(async (transaction) => {
    const moved = await transaction
      .updateTable("research_tasks")
      .set({
        status: finish.to,
        ...(finish.to === "completed" ? { progress: 100 } : {}),
        current_action: null,
        // Google's word about a run that has ended here changes nothing about when.
        ...(finish.from === undefined ? { completed_at: now } : {}),
        updated_at: now,
        lease_until: null,
        next_poll_at: finish.nextPollAt ?? null,
        error_code: finish.error?.code ?? null,
        error_message: finish.error?.message ?? null,
        usage_final: finish.usageFinal ? 1 : 0,
        ...(finish.tokens === undefined
          ? {}
          : { tokens_input: finish.tokens.input, tokens_output: finish.tokens.output }),
        ...(finish.cost === undefined ? {} : costColumns(finish.cost)),
        ...(finish.cancelConfirmed === undefined ? {} : { cancel_confirmed: finish.cancelConfirmed ? 1 : 0 }),
      })
      .where("task_id", "=", run.taskId)
      .where("lease_epoch", "=", run.epoch)
      .where("status", "in", finish.from ?? statesBefore(finish.to))
      .returning(["query", "enable_notifications", "keep_partial", "caller_waits_until", ...FIGURE_COLUMNS])
      .executeTakeFirst();
    if (moved === undefined) return false;
    if (finish.to === "cancelled" && moved.keep_partial === 0) {
      await dropResult(transaction, run.taskId);
    } else if (finish.result !== undefined) {
      const result = withLongestText(await findDraft(transaction, run.taskId), finish.result);
      await saveResult(transaction, { taskId: run.taskId, query: moved.query, result, raw, now });
    }
    await recordFigures(transaction, run.taskId, moved);
    if (moved.enable_notifications === 1 && finish.to !== "cancelled") {
      const payload = notificationFor({
        taskId: run.taskId,
        outcome: finish.to,
        durationMs: now - run.createdAt,
        reason: finish.error?.message,
      });
      const callerWaitsUntil = moved.caller_waits_until;
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

interface LaterText {
  run: Pick<FollowedRun, "taskId" | "epoch">;
  result: NewResult;
  raw: unknown;
  now: number;
}

/** A failed or cancelled run that is polled again keeps the longest text; one that was to keep nothing gets none. */
export function keepLaterText(db: Database, { run, result, raw, now }: LaterText): Promise<void> {
  const { taskId } = run;
  return db.transaction().execute(async (transaction) => {
    await lockRun(transaction, taskId);
    if (!(await mayKeepText(transaction, run))) return;
    const stored = await findDraft(transaction, taskId);
    if (stored !== undefined && stored.report.trim().length >= result.report.trim().length) return;
    const row = await transaction
      .selectFrom("research_tasks")
      .select(["query", ...FIGURE_COLUMNS])
      .where("task_id", "=", taskId)
      .where("status", "in", ["failed", "cancelled"])
      .executeTakeFirst();
    if (row === undefined) return;
    const longest = withLongestText(stored, result);
    await saveResult(transaction, { taskId, query: row.query, result: longest, raw: packRaw(raw), now });
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

/** A failed run is polled again until this deadline; only a finished report changes its state. */
export async function reopen(
  db: Database,
  taskId: string,
  { now, deadlineAt, queue }: { now: number; deadlineAt: number; queue: PollQueue },
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const runs = await transaction
      .updateTable("research_tasks")
      .set((run) => ({
        next_poll_at: now,
        lease_until: null,
        // A poll in flight may be about to give the run up.
        lease_epoch: run("lease_epoch", "+", 1),
        updated_at: now,
        deadline_at: deadlineAt,
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
