/**
 * All SQL of the notification outbox: written in the transaction that ends a run, claimed by one process, then sent. A
 * notification of the desktop is sent at most once; a delivery to a webhook is tried again until it arrives.
 */

import type { ExpressionBuilder, Transaction } from "kysely";
import type { Clock } from "../platform/clock.ts";
import { failpoint } from "../platform/failpoint.ts";
import type { Log } from "../platform/log.ts";
import type { Database, Tables } from "../store/database.ts";
import type { Notification } from "./desktop.ts";
import type { WebhookEvent } from "./webhook-message.ts";

/** Older notifications are not shown: they are of no use at the first start after a holiday. */
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;

/** All other channels are webhooks. */
const CHANNEL = "desktop";

/**
 * A call that waits for the run reads its state every 100 ms and deletes the notification if it returns the result
 * itself. Well below the two seconds that a notification may take, so that it is still on time if that call is gone.
 */
const HELD_FOR_CALLER_MS = 750;

export interface NewNotification {
  taskId: string | null;
  channel: typeof CHANNEL;
  kind: string;
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
  await db
    .deleteFrom("notification_outbox")
    .where("task_id", "=", taskId)
    .where("channel", "=", CHANNEL)
    .where("claimed_at", "is", null)
    .execute();
}

export interface ClaimedNotification {
  outboxId: number;
  taskId: string | null;
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
    const about = taskId === null ? "of a schedule" : `for run ${taskId}`;
    (taskId === null ? log : log.forRun(taskId)).info(
      `The notification ${about} is more than 7 days old and is not shown.`,
    );
    return false;
  }
  const payload: Notification = JSON.parse(payloadJson);
  failpoint("after-outbox-claim");
  await notify(payload);
  failpoint("after-notify");
  await markSent(db, { outboxId, processId, now: clock.now() });
  return true;
}

interface NewDeliveries {
  taskId: string | null;
  kind: string;
  event: WebhookEvent;
  webhookIds: readonly string[];
  now: number;
}

/** Part of the transaction that stores the event; a duplicate is ignored. */
export async function enqueueDeliveries(
  transaction: Transaction<Tables>,
  { taskId, kind, event, webhookIds, now }: NewDeliveries,
): Promise<void> {
  if (webhookIds.length === 0) return;
  const row = { task_id: taskId, kind, payload_json: JSON.stringify(event), created_at: now };
  await transaction
    .insertInto("notification_outbox")
    .values(webhookIds.map((channel) => ({ ...row, channel })))
    .onConflict((conflict) => conflict.columns(["task_id", "channel", "kind"]).doNothing())
    .execute();
}

/** Longer than an attempt takes: its process has died or lost the database, and another one tries again. */
const CLAIMED_FOR_MS = 60_000;

export interface Delivery {
  outboxId: number;
  webhookId: string;
  taskId: string | null;
  kind: string;
  event: WebhookEvent;
  /** Attempts that have failed. */
  attempts: number;
  /** Identifies this claim. */
  claim: { processId: string; at: number };
}

/** `busy`: webhooks that are being sent something; each waits for its own receiver only. */
export async function claimDelivery(
  db: Database,
  { processId, now, busy }: { processId: string; now: number; busy: readonly string[] },
): Promise<Delivery | undefined> {
  for (;;) {
    const next = await db
      .selectFrom("notification_outbox")
      .selectAll()
      .where("sent_at", "is", null)
      .where("not_before", "<=", now)
      .where("channel", "!=", CHANNEL)
      .$if(busy.length > 0, (query) => query.where("channel", "not in", busy))
      .where(({ or, eb }) =>
        // A claim of the future was made before the clock was set back.
        or([eb("claimed_at", "is", null), eb("claimed_at", "<=", now - CLAIMED_FOR_MS), eb("claimed_at", ">", now)]),
      )
      // Receivers that fail do not keep news from the others.
      .orderBy("attempts")
      .orderBy("outbox_id")
      .limit(1)
      .executeTakeFirst();
    if (next === undefined) return undefined;
    const { numUpdatedRows } = await db
      .updateTable("notification_outbox")
      .set({ claimed_by: processId, claimed_at: now })
      .where("outbox_id", "=", next.outbox_id)
      .where("claimed_at", next.claimed_at === null ? "is" : "=", next.claimed_at)
      .where("sent_at", "is", null)
      .executeTakeFirst();
    // Zero: another process was faster.
    if (numUpdatedRows === 0n) continue;
    const event: WebhookEvent = JSON.parse(next.payload_json);
    const { outbox_id: outboxId, channel: webhookId, task_id: taskId, kind, attempts } = next;
    return { outboxId, webhookId, taskId, kind, event, attempts, claim: { processId, at: now } };
  }
}

/** Records how a claimed delivery ended; nothing if another process has claimed it meanwhile. */
export async function settleDelivery(
  db: Database,
  { outboxId, claim }: Pick<Delivery, "outboxId" | "claim">,
  outcome: { sentAt: number } | { attempts: number; notBefore: number },
): Promise<void> {
  await db
    .updateTable("notification_outbox")
    .set(
      "sentAt" in outcome
        ? { sent_at: outcome.sentAt }
        : { attempts: outcome.attempts, not_before: outcome.notBefore, claimed_at: null, claimed_by: null },
    )
    .where("outbox_id", "=", outboxId)
    .where("claimed_by", "=", claim.processId)
    .where("claimed_at", "=", claim.at)
    .execute();
}

/** Whether the webhook has accepted anything since this delivery was to be made. */
export const hasDeliveredSince = async (db: Database, { outboxId, webhookId }: Delivery): Promise<boolean> =>
  (await db
    .selectFrom("notification_outbox as sent")
    .innerJoin("notification_outbox as failing", "failing.channel", "sent.channel")
    .select("sent.outbox_id")
    .where("failing.outbox_id", "=", outboxId)
    .where("sent.channel", "=", webhookId)
    .whereRef("sent.sent_at", ">=", "failing.created_at")
    .limit(1)
    .executeTakeFirst()) !== undefined;

/** Deletes what is too old to be sent, but not what is deleted with its run. */
export async function dropOldWithoutRun(db: Database, now: number): Promise<void> {
  const isOld = (row: ExpressionBuilder<Tables, "notification_outbox">) =>
    row.and([row("task_id", "is", null), row("created_at", "<", now - MAX_AGE_MS)]);
  const old = await db.selectFrom("notification_outbox").select("outbox_id").where(isOld).limit(1).executeTakeFirst();
  // With nothing to delete, nothing is written: the disk may be full.
  if (old !== undefined) await db.deleteFrom("notification_outbox").where(isOld).execute();
}

/** Of a message that its receiver never accepts. */
export async function dropDelivery(db: Database, { outboxId }: Pick<Delivery, "outboxId">): Promise<void> {
  await db.deleteFrom("notification_outbox").where("outbox_id", "=", outboxId).execute();
}

/** Of a webhook that has been removed or disabled. */
export async function dropDeliveries(db: Database, webhookId: string): Promise<void> {
  await db.deleteFrom("notification_outbox").where("channel", "=", webhookId).where("sent_at", "is", null).execute();
}
