/** SQL that reads the plans of a run, and ends runs whose plan was not approved in time. */

import type { Database } from "../../store/database.ts";
import { errorColumns, transition } from "../transition-store.ts";

/** The newest plan of a run. */
export interface StoredPlan {
  turn: number;
  text: string;
  /** The change that led to it; undefined for the first plan. */
  edit: string | undefined;
  interactionId: string;
  expiresAt: number;
}

const attemptsOf = (db: Database, taskId: string) =>
  db
    .selectFrom("research_attempts")
    .selectAll()
    .where("task_id", "=", taskId)
    .orderBy("turn", "desc")
    .orderBy("created_at", "desc");

export async function newestPlan(db: Database, taskId: string): Promise<StoredPlan | undefined> {
  const plans = attemptsOf(db, taskId).where("plan_markdown", "is not", null).where("interaction_id", "is not", null);
  const row = await plans.limit(1).executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    turn: row.turn,
    text: row.plan_markdown ?? "",
    edit: row.plan_edit ?? undefined,
    interactionId: row.interaction_id ?? "",
    expiresAt: row.plan_expires_at ?? 0,
  };
}

/** Deletes the plans of a cancelled run whose caller asked to keep nothing. */
export async function dropPlans(db: Database, taskId: string): Promise<void> {
  await db
    .updateTable("research_attempts")
    .set({ plan_markdown: null, plan_edit: null })
    .where("task_id", "=", taskId)
    .where("is_planning", "=", 1)
    .execute();
}

/** The plans of a run with the changes that led to them, oldest first. */
export async function planTurns(db: Database, taskId: string) {
  const rows = await attemptsOf(db, taskId).where("plan_markdown", "is not", null).execute();
  return rows.toReversed().map((row) => ({
    turn: row.turn,
    edit: row.plan_edit ?? undefined,
    text: row.plan_markdown ?? "",
    at: row.answered_at ?? row.created_at,
  }));
}

/** The change that the newest attempt of a run asks for. */
export async function editInProgress(db: Database, taskId: string): Promise<string | undefined> {
  const [newest] = await attemptsOf(db, taskId).limit(1).execute();
  return newest?.plan_edit ?? undefined;
}

export const PLAN_EXPIRED = errorColumns({
  code: "PLAN_EXPIRED",
  message: "The plan has expired: it was not approved in time. The research was not started or charged.",
});

/** Ends runs whose plan was not approved in time. Returns their ids. */
export async function expirePlans(db: Database, { now, limit }: { now: number; limit: number }): Promise<string[]> {
  const due = await db
    .selectFrom("research_tasks")
    .select("task_id")
    .where("status", "=", "awaiting_approval")
    .where("deadline_at", "<=", now)
    .limit(limit)
    .execute();
  const expired: string[] = [];
  for (const { task_id: taskId } of due) {
    const ended = await transition(db, {
      taskId,
      to: "failed",
      from: ["awaiting_approval"],
      holder: "any",
      set: { ...PLAN_EXPIRED, updated_at: now, completed_at: now },
    })
      .where("deadline_at", "<=", now)
      .executeTakeFirst();
    if (ended.numUpdatedRows > 0n) expired.push(taskId);
  }
  return expired;
}
