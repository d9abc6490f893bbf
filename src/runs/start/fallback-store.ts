/** SQL of a follow-up that Google could not continue: the next attempt carries the stored report. */

import type { Database } from "../../store/database.ts";
import { databaseNow } from "../../store/dialect.ts";
import { insertAttempt, type NewAttempt } from "../attempt-store.ts";
import { release, reserveLike } from "../ledger/ledger-store.ts";
import { lockRun, START_LEASE_MS } from "../lock-store.ts";
import { parseOptions, withoutPrevious } from "./start-options.ts";

interface Fallback extends Omit<NewAttempt, "createdAt"> {
  /** The attempt that Google refused, which was not charged. */
  refusedId: string;
  processId: string;
  notice: string | undefined;
}

/**
 * Stores the refusal, what is sent instead and the attempt in one transaction, before anything is sent: after a crash
 * the run is an unknown start like any other. Returns false if this process may no longer send for the run.
 */
export function commitFallback(db: Database, fallback: Fallback): Promise<boolean> {
  const { taskId, refusedId, processId, notice, now } = fallback;
  return db.transaction().execute(async (transaction) => {
    await lockRun(transaction, taskId);
    const run = await transaction
      .selectFrom("research_tasks")
      .select("options_json")
      .where("task_id", "=", taskId)
      .where("status", "=", "pending")
      .where("lease_owner", "=", processId)
      .where("cancel_requested_at", "is", null)
      .executeTakeFirst();
    if (run === undefined) return false;
    const refused = await transaction
      .updateTable("research_attempts")
      .set({ state: "refused", answered_at: now })
      .where("attempt_id", "=", refusedId)
      .where("state", "=", "sending")
      .where("interaction_id", "is", null)
      .executeTakeFirst();
    if (refused.numUpdatedRows === 0n) return false;
    const options = withoutPrevious({ ...parseOptions(run.options_json), notice });
    await transaction
      .updateTable("research_tasks")
      .set({ followup_context: "stored_report", options_json: JSON.stringify(options) })
      .set({ lease_until: now + START_LEASE_MS, updated_at: now })
      .where("task_id", "=", taskId)
      .execute();
    const createdAt = await databaseNow(transaction, now);
    await insertAttempt(transaction, { ...fallback, createdAt });
    await reserveLike(transaction, { entryId: fallback.attemptId, like: refusedId, taskId, at: createdAt });
    await release(transaction, refusedId);
    return true;
  });
}
