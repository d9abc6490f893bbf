/** SQL of cancellation: the flag read by the process that works on the run, and the final state. */

import type { Database } from "../../store/database.ts";
import { isNotCarriedOn, lineOf } from "../conversation-store.ts";
import { lockRun, readColumns } from "../lock-store.ts";
import { dropResult } from "../result-store.ts";
import { NO_ACTION, transition } from "../transition-store.ts";

interface RequestedCancel {
  taskId: string;
  keepPartial: boolean;
  /** Not if another call has joined the run; none can join it afterwards. */
  unlessJoined?: boolean;
  now: number;
}

/** Returns whether this request was the first and the run can be cancelled. */
export async function requestCancel(
  db: Database,
  { taskId, keepPartial, unlessJoined = false, now }: RequestedCancel,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("research_tasks")
    .set({ cancel_requested_at: now, keep_partial: keepPartial ? 1 : 0, updated_at: now })
    .where("task_id", "=", taskId)
    .where("cancel_requested_at", "is", null)
    .where("status", "in", ["pending", "running", "running_async", "start_unknown"])
    .$if(unlessJoined, (update) => update.where("joined_at", "is", null))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The reason that a cancelled run shows. */
export async function noteCancelledCall(
  db: Database,
  { taskId, message }: { taskId: string; message: string },
): Promise<void> {
  await db
    .updateTable("research_tasks")
    .set({ error_code: "CANCELLED", error_message: message })
    .where("task_id", "=", taskId)
    .where("status", "=", "cancelled")
    .where("error_code", "is", null)
    .execute();
}

/** Whether any process has requested that this run be stopped. */
export async function isCancelRequested(db: Database, taskId: string): Promise<boolean> {
  const row = await readColumns(db, taskId, ["cancel_requested_at"]);
  return (row?.cancel_requested_at ?? null) !== null;
}

interface Cancellation {
  taskId: string;
  /** The run is a plan that waits for approval: Google is not working on it. */
  isPlan?: boolean;
  /** False while Google may still finish it. */
  confirmed: boolean;
  keepPartial: boolean;
  now: number;
}

/** Sets a run to `cancelled` in the database. Resolves with false if it is in another state, or its plan is decided on. */
export function cancelHere(
  db: Database,
  { taskId, isPlan = false, confirmed, keepPartial, now }: Cancellation,
): Promise<boolean> {
  // One transaction: a report that arrives right afterwards is paid for and must not be dropped with the partial one.
  return db.transaction().execute(async (transaction) => {
    // A plan that is being approved holds this lock.
    await lockRun(transaction, taskId);
    const updated = await transition(transaction, {
      taskId,
      to: "cancelled",
      ...(isPlan ? { from: [], alsoFrom: ["completed"] } : {}),
      holder: "any",
      set: {
        ...(isPlan ? { cancel_requested_at: now, keep_partial: keepPartial ? 1 : 0, deadline_at: now } : {}),
        cancel_confirmed: confirmed ? 1 : 0,
        completed_at: now,
        updated_at: now,
        lease_until: null,
        ...NO_ACTION,
        // Until Google confirms the cancel the run is polled: its report may still arrive, and is paid for. A plan may be
        // polled for its usage. It is due at once: a poll in flight loses its claim with the lease, and would leave the
        // run due only when that expires.
        next_poll_at: (run) => run.case().when("next_poll_at", "is", null).then(run.val(null)).else(now).end(),
      },
    })
      .$if(isPlan, (update) => update.where("part", "=", "plan").where(isNotCarriedOn))
      .executeTakeFirst();
    const isCancelled = updated.numUpdatedRows > 0n;
    if (isCancelled && !keepPartial) await dropLine(transaction, taskId);
    return isCancelled;
  });
}

/** Deletes what a cancelled run and the plans before it have found: its caller asked to keep nothing. */
export async function dropLine(transaction: Database, taskId: string): Promise<void> {
  for (const { task_id, part } of await lineOf(transaction, taskId)) {
    if (task_id === taskId || part === "plan") await dropResult(transaction, task_id);
  }
}

export async function leaseOf(db: Database, taskId: string): Promise<{ holder: string; until: number }> {
  const row = await readColumns(db, taskId, ["lease_owner", "lease_until"]);
  return { holder: row?.lease_owner ?? "", until: row?.lease_until ?? 0 };
}

export async function keepsPartial(db: Database, taskId: string): Promise<boolean> {
  const row = await readColumns(db, taskId, ["keep_partial"]);
  return row?.keep_partial !== 0;
}
