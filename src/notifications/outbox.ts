/** All SQL about notifications: written with the end of a run, claimed by one process, and only then sent. */

import type { Transaction } from "kysely";
import { z } from "zod";
import type { Clock } from "../platform/clock.ts";
import { failpoint } from "../platform/failpoint.ts";
import type { Log } from "../platform/log.ts";
import type { Database, Tables } from "../store/database.ts";
import type { Notification, NotificationKind } from "./notification.ts";

/** Older news is no news: nobody wants to be told at the first start after a holiday. */
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;

/** A process that meets rows of a channel it does not know leaves them to those who do. */
const CHANNEL = "desktop";

/**
 * A call that waits for the run reads its state every 100 ms and withdraws the notification when it returns the end
 * itself. Well below the two seconds that a notification may take, so that it is on time when that call is gone.
 */
const HELD_FOR_CALLER_MS = 750;

export interface NewNotification {
  taskId: string;
  channel: typeof CHANNEL;
  kind: NotificationKind;
  payload: Notification;
  now: number;
  /** The call that started the run may still be waiting to return its end. */
  callerWaitsUntil?: number | null | undefined;
}

/** Part of the transaction that ends the run; said twice, it is kept once. */
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

/** The end of the run was returned to the call that started it; what is claimed already is being shown. */
export async function withdraw(db: Database, taskId: string): Promise<void> {
  await db.deleteFrom("notification_outbox").where("task_id", "=", taskId).where("claimed_at", "is", null).execute();
}

export interface ClaimedNotification {
  outboxId: number;
  taskId: string;
  payloadJson: string;
  createdAt: number;
}

/** The claim is one statement: of any number of processes exactly one gets the row, and nobody ever again. */
export async function claimNext(
  db: Database,
  { processId, now }: { processId: string; now: number },
): Promise<ClaimedNotification | undefined> {
  for (;;) {
    // Mostly there is nothing, and an update that changes nothing would still wait for the write lock.
    const next = await db
      .selectFrom("notification_outbox")
      .select("outbox_id")
      .where("channel", "=", CHANNEL)
      .where("claimed_at", "is", null)
      // Further ahead than any row is held: the clock was set back, and a late notification is worse than one too many.
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
    // Undefined: another process was faster, and there may be more.
    if (row !== undefined) {
      return { outboxId: row.outbox_id, taskId: row.task_id, payloadJson: row.payload_json, createdAt: row.created_at };
    }
  }
}

/** When the next of the held notifications is due. */
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
  /** Sends what nobody has claimed yet and says how many that were. Rejects when the database does. */
  deliverPending(): Promise<number>;
}

export interface OutboxSenderOptions {
  db: Database;
  processId: string;
  clock: Clock;
  log: Log;
  notify: (notification: Notification) => Promise<unknown>;
  /** Aborted when the process begins to leave: what it has not claimed by then, the next one sends. */
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
  /** A held row is due before the next sweep. One that is lost here is found by that sweep. */
  const deliverAt = async (dueAt: number): Promise<void> => {
    isWaiting = true;
    const pause = Math.min(HELD_FOR_CALLER_MS, Math.max(0, dueAt - clock.now()));
    await clock.sleep(pause, signal).catch(() => undefined);
    isWaiting = false;
    await deliverPending().catch(() => log.debug("Held notifications could not be sent yet."));
  };
  return { deliverPending };
}

/** A process that dies in here leaves the row claimed: a notification may be lost, but it never comes twice. */
async function deliver(
  { outboxId, taskId, payloadJson, createdAt }: ClaimedNotification,
  { db, processId, clock, log, notify }: OutboxSenderOptions,
): Promise<boolean> {
  if (clock.now() - createdAt > MAX_AGE_MS) {
    log.forRun(taskId).info(`The notification for run ${taskId} is more than 7 days old and is not shown any more.`);
    return false;
  }
  const payload = readPayload(payloadJson);
  if (payload === undefined) {
    log.forRun(taskId).warn(`The notification for run ${taskId} cannot be read and is not shown.`);
    return false;
  }
  failpoint("after-outbox-claim");
  await notify(payload);
  failpoint("after-notify");
  await markSent(db, { outboxId, processId, now: clock.now() });
  return true;
}

const payloadSchema = z.object({ title: z.string(), body: z.string() });

function readPayload(json: string): Notification | undefined {
  try {
    return payloadSchema.parse(JSON.parse(json));
  } catch {
    return undefined;
  }
}

/** What a run has to send and has sent. */
export const notificationsOf = (db: Database, taskIds: readonly string[]) =>
  db.selectFrom("notification_outbox").selectAll().where("task_id", "in", taskIds).execute();

/** Into another database, which counts its rows itself. What it has already stays as it is. */
export async function copyNotifications(
  db: Database,
  rows: Awaited<ReturnType<typeof notificationsOf>>,
): Promise<void> {
  for (const { outbox_id: _, ...row } of rows) {
    await db
      .insertInto("notification_outbox")
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}
