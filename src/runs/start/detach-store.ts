/** SQL that detaches an interaction from a run that adopted it although it belongs to another run's start. */

import { NO_COST } from "../../costs/actual.ts";
import type { Database } from "../../store/database.ts";
import { costColumns } from "../cost-columns.ts";
import { NO_USAGE, readPlan } from "../plan/run-plan.ts";
import { dropResult } from "../result-store.ts";
import { RUN_STATUSES } from "../run.ts";
import { errorColumns, NO_ACTION, transition } from "../transition-store.ts";

const DETACHED_ERROR = errorColumns({
  code: "START_UNKNOWN",
  message:
    "The interaction that this run had adopted belongs to another run. It is unknown again whether Google accepted its own start.",
});

/** Deletes the run's text, timeline and usage and resets it to `start_unknown`. A cancelled run stays cancelled. */
export async function detachInteraction(
  transaction: Database,
  { interactionId, attemptId, now }: { interactionId: string; attemptId: string; now: number },
): Promise<void> {
  await transaction
    .updateTable("research_attempts")
    .set({ interaction_id: null, state: "unknown", answered_at: null, plan_markdown: null, usage_json: null })
    .where("attempt_id", "=", attemptId)
    .execute();
  const detached = await transaction
    .updateTable("research_tasks")
    .set((set) => ({
      interaction_id: null,
      next_poll_at: null,
      lease_until: null,
      // Fences a poll in flight, which would store the other run's text.
      lease_epoch: set("lease_epoch", "+", 1),
      progress: 0,
      ...NO_ACTION,
      tokens_input: 0,
      tokens_output: 0,
      usage_final: 0,
      ...costColumns(NO_COST),
      updated_at: now,
    }))
    .where("interaction_id", "=", interactionId)
    .returning(["task_id", "plan_json"])
    .execute();
  for (const { task_id: taskId, plan_json: plan } of detached) {
    if (plan !== null) await keepEarlierTurns(transaction, taskId, plan);
    await transition(transaction, {
      taskId,
      to: "start_unknown",
      // It reached its state by reading an interaction that is not its own.
      from: [],
      alsoFrom: RUN_STATUSES.filter((status) => status !== "cancelled"),
      holder: "any",
      set: { completed_at: null, ...DETACHED_ERROR },
    }).execute();
    await transaction
      .updateTable("research_tasks")
      .set({ cancel_confirmed: 0 })
      .where("task_id", "=", taskId)
      .where("status", "=", "cancelled")
      .execute();
    await transaction.deleteFrom("research_events").where("task_id", "=", taskId).execute();
    await dropResult(transaction, taskId);
  }
}

/** Its planning turns before the detached interaction were its own, and charged. */
async function keepEarlierTurns(transaction: Database, taskId: string, plan: string): Promise<void> {
  const { tokens, cost } = readPlan(plan)?.earlier ?? NO_USAGE;
  await transaction
    .updateTable("research_tasks")
    .set({ tokens_input: tokens.input, tokens_output: tokens.output, ...costColumns(cost) })
    .where("task_id", "=", taskId)
    .execute();
}
