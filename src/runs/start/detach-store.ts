/** The SQL that takes an interaction from the run that adopted it by mistake: another start was answered with it. */

import { NO_COST } from "../../costs/actual.ts";
import type { Database } from "../../store/database.ts";
import { costColumns } from "../cost-columns.ts";
import { dropResult } from "../result-store.ts";

const NOT_ITS_OWN = {
  error_code: "START_UNKNOWN",
  error_message:
    "The interaction that this run had adopted belongs to another run. Whether its own start was taken is unknown again.",
};

/**
 * An explicit move, outside the table of legal ones: whatever the run had become, it had become by reading what is not
 * its own. Its text, timeline and figures go; its own start is as unknown as it was. A cancelled run stays cancelled.
 */
export async function detachInteraction(
  transaction: Database,
  { interactionId, attemptId, now }: { interactionId: string; attemptId: string; now: number },
): Promise<void> {
  await transaction
    .updateTable("research_attempts")
    .set({ interaction_id: null, state: "unknown", answered_at: null })
    .where("attempt_id", "=", attemptId)
    .execute();
  const detached = await transaction
    .updateTable("research_tasks")
    .set((set) => ({
      interaction_id: null,
      next_poll_at: null,
      lease_until: null,
      // A poll in flight brings what is not this run's: its write has to fail.
      lease_epoch: set("lease_epoch", "+", 1),
      progress: 0,
      current_action: null,
      tokens_input: 0,
      tokens_output: 0,
      usage_final: 0,
      ...costColumns(NO_COST),
      updated_at: now,
    }))
    .where("interaction_id", "=", interactionId)
    .returning("task_id")
    .execute();
  for (const { task_id: taskId } of detached) {
    await transaction
      .updateTable("research_tasks")
      .set({ status: "start_unknown", completed_at: null, ...NOT_ITS_OWN })
      .where("task_id", "=", taskId)
      .where("status", "!=", "cancelled")
      .execute();
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
