/**
 * All SQL of the notification outbox: written in the transaction that ends a run, claimed by one process, then sent.
 */

import type { Transaction } from "kysely";
import type { Clock } from "../platform/clock.ts";
import { failpoint } from "../platform/failpoint.ts";
import type { Log } from "../platform/log.ts";
import type { Database, Tables } from "../store/database.ts";
import type { Notification, NotificationKind } from "./desktop.ts";

/** Older notifications are not shown: they are of no use at the first start after a holiday. */
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;

/** Rows of other channels are left to processes that know them. */
const CHANNEL = "desktop";

/**
 * A call that waits for the run reads its state every 100 ms and deletes the notification if it returns the result
 * itself. Well below the two seconds that a notification may take, so that it is still on time if that call is gone.
 */
const HELD_FOR_CALLER_MS = 750;

export interface NewNotification {
  taskId: string;
  channel: typeof CHANNEL;
  kind: NotificationKind;
  payload: Notification;
  now: number;
  /** Until then the call that started the run may return the result itself. */
  callerWaitsUntil?: number | null | undefined;
}

/** Part of the transaction that ends the run; a duplicate is ignored. */
export async function enqueue(
  transaction: Transaction<Tables>,
  { taskId, channel, kind, payload, now, callerWaitsUntil }: NewNotification,
): Promise<void> {
  const notBefore = (callerWaitsUntil ?? 0) > now ? now + HELD_FOR_CALLER_MS : 0;
  const row = { task_id: taskId, channel, kind, payload_json: JSON.stringify(payload), created_at: now };
  await transaction
    .insertInto("notification_outbox")
    .values({ ...row, not_before: notBefore })
    .onConflict((conflict) => conflict.columns(["task_id", "channel", "kind"]).doNothing())
    .execute();
}

/** The call that started the run has returned its result. A notification already claimed is being shown. */
export async function withdraw(db: Database, taskId: string): Promise<void> {
  await db.deleteFrom("notification_outbox").where("task_id", "=", taskId).where("claimed_at", "is", null).execute();
}

export interface ClaimedNotification {
  outboxId: number;
  taskId: string;
  payloadJson: string;
  createdAt: number;
}

/** The claim is one statement, so exactly one process gets the row, once. */
export async function claimNext(
  db: Database,
  { processId, now }: { processId: string; now: number },
): Promise<ClaimedNotification | undefined> {
  for (;;) {
    // Usually there is nothing to claim, and an update without effect would still wait for the write lock.
    const next = await db
      .selectFrom("notification_outbox")
      .select("outbox_id")
      .where("channel", "=", CHANNEL)
      .where("claimed_at", "is", null)
      // Further ahead than any row is held: the clock was set back, and a late notification is worse than a superfluous
      // one.
      .where(({ or, eb }) => or([eb("not_before", "<=", now), eb("not_before", ">", now + HELD_FOR_CALLER_MS)]))
      .orderBy("outbox_id")
      .limit(1)
      .executeTakeFirst();
    if (next === undefined) return undefined;
    const row = await db
      .updateTable("notification_outbox")
      .set({ claimed_by: processId, claimed_at: now })
      .where("outbox_id", "=", next.outbox_id)
      .where("claimed_at", "is", null)
      .returning(["outbox_id", "task_id", "payload_json", "created_at"])
      .executeTakeFirst();
    // Undefined: another process was faster; there may be more rows.
    if (row !== undefined) {
      return { outboxId: row.outbox_id, taskId: row.task_id, payloadJson: row.payload_json, createdAt: row.created_at };
    }
  }
}

/** The time at which the next held notification is due. */
async function nextDueAt(db: Database): Promise<number | undefined> {
  const next = await db
    .selectFrom("notification_outbox")
    .select("not_before")
    .where("channel", "=", CHANNEL)
    .where("claimed_at", "is", null)
    .orderBy("not_before")
    .limit(1)
    .executeTakeFirst();
  return next?.not_before;
}

export async function markSent(
  db: Database,
  { outboxId, processId, now }: { outboxId: number; processId: string; now: number },
): Promise<void> {
  await db
    .updateTable("notification_outbox")
    .set({ sent_at: now })
    .where("outbox_id", "=", outboxId)
    .where("claimed_by", "=", processId)
    .execute();
}

export interface OutboxSender {
  /** Sends all unclaimed notifications and returns their number. Rejects if the database does. */
  deliverPending(): Promise<number>;
}

export interface OutboxSenderOptions {
  db: Database;
  processId: string;
  clock: Clock;
  log: Log;
  notify: (notification: Notification) => Promise<unknown>;
  /** Aborted at shutdown; the next process sends what is not claimed by then. */
  signal?: AbortSignal | undefined;
}

export function createOutboxSender(options: OutboxSenderOptions): OutboxSender {
  const { db, processId, clock, log, signal } = options;
  let isWaiting = false;
  const deliverPending = async (): Promise<number> => {
    let delivered = 0;
    for (;;) {
      if (signal?.aborted === true) return delivered;
      const claimed = await claimNext(db, { processId, now: clock.now() });
      if (claimed === undefined) break;
      if (await deliver(claimed, options)) delivered += 1;
    }
    const dueAt = isWaiting ? undefined : await nextDueAt(db);
    if (dueAt !== undefined) void deliverAt(dueAt);
    return delivered;
  };
  /** A held row is due before the next sweep. If the process ends before that, the next sweep finds it. */
  const deliverAt = async (dueAt: number): Promise<void> => {
    isWaiting = true;
    const pause = Math.min(HELD_FOR_CALLER_MS, Math.max(0, dueAt - clock.now()));
    await clock.sleep(pause, signal).catch(() => undefined);
    isWaiting = false;
    await deliverPending().catch(() => log.debug("Held notifications could not be sent yet."));
  };
  return { deliverPending };
}

/** A process that dies here leaves the row claimed: a notification may be lost, but is never shown twice. */
async function deliver(
  { outboxId, taskId, payloadJson, createdAt }: ClaimedNotification,
  { db, processId, clock, log, notify }: OutboxSenderOptions,
): Promise<boolean> {
  if (clock.now() - createdAt > MAX_AGE_MS) {
    log.forRun(taskId).info(`The notification for run ${taskId} is more than 7 days old and is not shown.`);
    return false;
  }
  const payload: Notification = JSON.parse(payloadJson);
  failpoint("after-outbox-claim");
  await notify(payload);
  failpoint("after-notify");
  await markSent(db, { outboxId, processId, now: clock.now() });
  return true;
}
