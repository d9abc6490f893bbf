/** SQL of a planning turn: begins it, stores the plan that it returns, and restores the last plan when it fails. */

import { planNotification } from "../../notifications/desktop.ts";
import { enqueue } from "../../notifications/outbox.ts";
import { type Database, storable } from "../../store/database.ts";
import { type AttemptTurn, insertAttempt, isNotBeingSentAgain, type NewAttempt } from "../attempt-store.ts";
import { costColumns } from "../cost-columns.ts";
import { START_LEASE_MS } from "../lease.ts";
import { lockRun } from "../lock-store.ts";
import type { PolledRun } from "../poll/polled-run.ts";
import { refuseAboveLimits, type StartLimits } from "../start/limits-store.ts";
import { admitCost, type CheckCost } from "../start/unconfirmed-store.ts";
import { errorColumns, NO_ACTION, type Transition, transition } from "../transition-store.ts";
import { newestPlan, PLAN_EXPIRED, type StoredPlan } from "./plan-store.ts";
import { addUsage, NO_USAGE, readUsage, type RunPlan, type TurnUsage, withEarlierTurns } from "./run-plan.ts";

export interface NewTurn extends Omit<NewAttempt, "turn"> {
  owner: string;
  isPlanning: boolean;
  planEdit: string | undefined;
  /** The plan that was read for the decision; if another process has replaced it meanwhile, nothing is sent. */
  basedOn: StoredPlan;
  options: Record<string, unknown>;
  estimate: Record<string, unknown>;
  deadlineAt: number;
  callerWaitsMs: number;
  processId: string;
}

/** One transaction, so that exactly one of several approvals is sent. Undefined: the run no longer awaits approval. */
export function commitTurn(
  db: Database,
  turn: NewTurn,
  { limits, checkCost }: { limits: StartLimits; checkCost?: CheckCost | undefined },
): Promise<string | undefined> {
  const { taskId, attemptId, isPlanning, planEdit, now } = turn;
  return db.transaction().execute(async (transaction) => {
    await lockRun(transaction, taskId);
    const waiting = transaction.selectFrom("research_tasks").select("task_id").where("task_id", "=", taskId);
    if ((await waiting.where("status", "=", "awaiting_approval").executeTakeFirst()) === undefined) return undefined;
    const current = await newestPlan(transaction, taskId);
    if (current?.interactionId !== turn.basedOn.interactionId) return undefined;
    const unconfirmedUsd = await admitCost(transaction, turn, checkCost);
    await refuseAboveLimits(transaction, limits, turn);
    const number = (await lastTurn(transaction, taskId)) + 1;
    const plan: RunPlan = { turn: number, isPlanning, earlier: await usageBefore(transaction, taskId, number) };
    await transition(transaction, {
      taskId,
      to: "pending",
      from: ["awaiting_approval"],
      holder: "any",
      set: {
        ...NOT_POLLED,
        interaction_id: null,
        // Fences a late poll of the plan, which would end this turn.
        lease_epoch: (run) => run("lease_epoch", "+", 1),
        plan_json: JSON.stringify(plan),
        options_json: JSON.stringify(turn.options),
        estimate_json: JSON.stringify(turn.estimate),
        lease_owner: turn.processId,
        lease_until: now + START_LEASE_MS,
        started_at: now,
        updated_at: now,
        deadline_at: turn.deadlineAt,
        caller_waits_until: turn.callerWaitsMs > 0 ? now + turn.callerWaitsMs : null,
        joined_at: null,
        usage_final: 0,
      },
    }).execute();
    const attempt: AttemptTurn = { turn: number, isPlanning, planEdit };
    await insertAttempt(transaction, { ...turn, turn: attempt, unconfirmedUsd });
    return attemptId;
  });
}

const NOT_POLLED = {
  next_poll_at: null,
  odd_answer: null,
  odd_answer_since: null,
  ...NO_ACTION,
  progress: 0,
  ...errorColumns(undefined),
} as const;

async function lastTurn(db: Database, taskId: string): Promise<number> {
  const row = await db
    .selectFrom("research_attempts")
    .select((select) => select.fn.max("turn").as("turn"))
    .where("task_id", "=", taskId)
    .executeTakeFirst();
  return row?.turn ?? 0;
}

/** What the turns before this one cost. */
async function usageBefore(db: Database, taskId: string, turn: number): Promise<TurnUsage> {
  const rows = await db
    .selectFrom("research_attempts")
    .select("usage_json")
    .where("task_id", "=", taskId)
    .where("turn", "<", turn)
    .where("usage_json", "is not", null)
    .execute();
  return rows.map(({ usage_json }) => readUsage(usage_json)).reduce(addUsage, NO_USAGE);
}

export interface PlanResult {
  run: Pick<PolledRun, "taskId" | "epoch" | "interactionId" | "plan">;
  text: string;
  usage: TurnUsage;
  usageFinal: boolean;
  expiresAt: number;
  now: number;
}

/** Stores the plan, its usage and the notification in one transaction. False if the run was ended or polled again. */
export function finishPlan(
  db: Database,
  { run, text, usage, usageFinal, expiresAt, now }: PlanResult,
): Promise<boolean> {
  const { taskId, epoch, interactionId, plan } = run;
  return db.transaction().execute(async (transaction) => {
    const updated = await transition(transaction, {
      taskId,
      to: "awaiting_approval",
      holder: { epoch },
      set: {
        ...NOT_POLLED,
        ...usageColumns(withEarlierTurns(plan, usage)),
        usage_final: usageFinal ? 1 : 0,
        completed_at: null,
        updated_at: now,
        lease_until: null,
        deadline_at: expiresAt,
      },
    })
      .where("interaction_id", "=", interactionId)
      .returning(["enable_notifications", "caller_waits_until"])
      .executeTakeFirst();
    if (updated === undefined) return false;
    await keepPlan(transaction, { run, text, usage, expiresAt });
    if (updated.enable_notifications === 1) {
      await enqueue(transaction, {
        taskId,
        channel: "desktop",
        // Each turn is announced: without its number the second one would count as a duplicate.
        kind: `plan-${plan?.turn ?? 1}`,
        payload: planNotification(taskId),
        now,
        callerWaitsUntil: updated.caller_waits_until,
      });
    }
    return true;
  });
}

const usageColumns = ({ tokens, cost }: TurnUsage) => ({
  tokens_input: tokens.input,
  tokens_output: tokens.output,
  ...costColumns(cost),
});

export type WrittenPlan = Pick<PlanResult, "run" | "text" | "usage" | "expiresAt">;

/** A plan that arrives after its run was cancelled is paid for and kept, too. */
export async function keepPlan(db: Database, { run, text, usage, expiresAt }: WrittenPlan): Promise<void> {
  await db
    .updateTable("research_attempts")
    .set({ plan_markdown: storable(text), usage_json: JSON.stringify(usage), plan_expires_at: expiresAt })
    .where("task_id", "=", run.taskId)
    .where("interaction_id", "=", run.interactionId)
    .execute();
}

interface FailedTurn {
  taskId: string;
  error: { code: string; message: string };
  isPlanExpired?: boolean | undefined;
  now: number;
}

/**
 * Makes the last plan wait for approval again after a turn that led to nothing, or ends the run if Google no longer has
 * the plan. Returns false if the run has no plan. The caller holds the lock on the run.
 */
export async function returnToPlan(
  transaction: Database,
  failed: FailedTurn & ({ attemptId: string } | { epoch: number }),
): Promise<boolean> {
  const { taskId, now } = failed;
  const plan = await newestPlan(transaction, taskId);
  if (plan === undefined) return false;
  const set = {
    ...NOT_POLLED,
    interaction_id: plan.interactionId,
    plan_json: JSON.stringify({
      turn: plan.turn,
      isPlanning: true,
      earlier: await usageBefore(transaction, taskId, plan.turn),
    } satisfies RunPlan),
    ...usageColumns(await usageBefore(transaction, taskId, (await lastTurn(transaction, taskId)) + 1)),
    updated_at: now,
    lease_until: null,
    deadline_at: plan.expiresAt,
  };
  const waiting: Transition = {
    taskId,
    to: "awaiting_approval",
    holder: "epoch" in failed ? { epoch: failed.epoch } : "any",
    from: "epoch" in failed ? ["running_async"] : ["pending", "start_unknown"],
    set: { ...set, ...errorColumns(failed.error) },
  };
  const expired: Transition = { ...waiting, to: "failed", set: { ...set, ...PLAN_EXPIRED, completed_at: now } };
  const back = transition(transaction, failed.isPlanExpired === true ? expired : waiting);
  await ("attemptId" in failed ? back.where(isNotBeingSentAgain(failed)) : back).execute();
  return true;
}

/** Stores the usage of a turn that returned no plan: it was charged. */
export const recordTurnUsage = (db: Database, run: Pick<PolledRun, "taskId" | "interactionId">, usage: TurnUsage) =>
  db
    .updateTable("research_attempts")
    .set({ usage_json: JSON.stringify(usage) })
    .where("task_id", "=", run.taskId)
    .where("interaction_id", "=", run.interactionId)
    .execute();
