/** SQL that reads the plans of a line of runs, and ends plans that were not approved in time. */

import type { Database } from "../../store/database.ts";
import { expirePlan, isNotCarriedOn, lineOf } from "../conversation-store.ts";
import { lockRun } from "../lock-store.ts";
import { findResult } from "../result-store.ts";
import { parseOptions, variantOf } from "../start/start-options.ts";
import type { Advice } from "../../action.ts";

export interface StoredPlan {
  taskId: string;
  /** Numbers the plans of a line: the first is 1. */
  turn: number;
  text: string;
  /** The change that led to it; undefined for the first plan. */
  edit: string | undefined;
  interactionId: string;
  expiresAt: number;
  /** When Google had written it. */
  at: number;
}

/** The plans of a run and of those that it carries on, oldest first. */
export async function plansOf(db: Database, taskId: string): Promise<StoredPlan[]> {
  const plans: StoredPlan[] = [];
  for (const row of await lineOf(db, taskId)) {
    if (row.part !== "plan" || row.gave_way === 1 || row.interaction_id === null) continue;
    const text = (await findResult(db, row.task_id))?.report ?? "";
    if (text === "") continue;
    plans.push({
      taskId: row.task_id,
      turn: plans.length + 1,
      text,
      edit: editOf(parseOptions(row.options_json)),
      interactionId: row.interaction_id,
      expiresAt: row.deadline_at ?? 0,
      at: row.completed_at ?? row.created_at,
    });
  }
  return plans;
}

export const newestPlan = async (db: Database, taskId: string): Promise<StoredPlan | undefined> =>
  (await plansOf(db, taskId)).at(-1);

/** The change of the plan before it that a run asks for; undefined for a first plan, and for a research. */
export function editOf(options: Record<string, unknown>): string | undefined {
  const { collaborativePlanning, previousInteractionId, input } = variantOf(options) ?? {};
  return collaborativePlanning === true && previousInteractionId !== undefined ? input : undefined;
}

/** Ends plans that were not approved in time. Returns their ids. */
export async function expirePlans(db: Database, { now, limit }: { now: number; limit: number }): Promise<string[]> {
  const due = await db
    .selectFrom("research_tasks")
    .select("task_id")
    .where("part", "=", "plan")
    .where("status", "=", "completed")
    .where("deadline_at", "<=", now)
    .where(isNotCarriedOn)
    .limit(limit)
    .execute();
  const expired: string[] = [];
  for (const { task_id: taskId } of due) {
    const hasEnded = await db.transaction().execute(async (transaction) => {
      await lockRun(transaction, taskId);
      return expirePlan(transaction, taskId, now);
    });
    if (hasEnded) expired.push(taskId);
  }
  return expired;
}

/** After a plan that cannot be approved here any more: its text is kept. */
export const PLAN_CANCELLED: Advice = {
  suggestion: "The text of the plan is kept.",
  next: [{ do: "read" }, { do: "start", with: "this_plan" }],
};

export const PLAN_ENDED: Advice = {
  suggestion: "The text of the plan is kept, and Google may still have the plan itself.",
  next: [{ do: "poll_again" }, { do: "read" }, { do: "start", with: "this_plan" }],
};

/** The change that a user asks for by editing the text of the plan. */
export const planReplacement = (text: string): string => `Replace the plan with this one:\n\n${text}`;
