/** Writes what happened to a run into the outbox, for the desktop and for the webhooks of its owner. */

import type { Transaction } from "kysely";
import type { Tables } from "../store/database.ts";
import { type Notification, type NotificationKind, shortLine } from "./desktop.ts";
import { enqueue, enqueueDeliveries } from "./outbox.ts";
import type { WebhookEvent } from "./webhook-message.ts";
import { type EventName } from "./event-names.ts";
import { webhooksFor } from "./webhook-store.ts";

export interface Announcement {
  /** Undefined: no run of the schedule started. */
  taskId: string | undefined;
  /** The occurrence that did not start. */
  unstarted?: { scheduleId: string; dueAt: number } | undefined;
  owner: string;
  /** The name of the run, or its question. */
  title: string;
  /** The runs that it carries on: a client may have subscribed to one of them. */
  earlierIds: () => Promise<string[]>;
  kind: NotificationKind;
  notification: Notification;
  /** Whether the desktop shows it, too. */
  onDesktop: boolean;
  /** For webhooks, where it is longer than the notification. */
  message?: string | undefined;
  status?: string | undefined;
  costUsd?: number | undefined;
  now: number;
  /** Until then the call that started the run may return the result itself. */
  callerWaitsUntil?: number | null | undefined;
}

const EVENT_NAMES: Record<NotificationKind, EventName> = {
  not_started: "research.failed",
  no_budget: "budget.threshold",
  completed: "research.finished",
  failed: "research.failed",
  plan: "research.needs_approval",
  changed: "research.changed",
  budget: "budget.threshold",
};

const MAX_TITLE_CHARS = 200;
const MAX_MESSAGE_CHARS = 1_000;

/** Part of the transaction that stores what is announced. */
export async function announce(transaction: Transaction<Tables>, announcement: Announcement): Promise<void> {
  const { taskId = null, unstarted, owner, kind, notification, onDesktop, now, callerWaitsUntil } = announcement;
  // An occurrence has no row of its own that would make the notification the only one.
  const row = { taskId, kind: unstarted === undefined ? kind : `${kind} ${unstarted.scheduleId} ${unstarted.dueAt}` };
  if (onDesktop)
    await enqueue(transaction, { ...row, channel: "desktop", payload: notification, now, callerWaitsUntil });
  const webhooks = await webhooksFor(transaction, { owner, event: EVENT_NAMES[kind], now });
  if (webhooks.length === 0) return;
  const isBound = webhooks.some((webhook) => webhook.taskId !== undefined);
  const ids = new Set([taskId, ...(isBound ? await announcement.earlierIds() : [])]);
  const webhookIds = webhooks.filter((webhook) => webhook.taskId === undefined || ids.has(webhook.taskId));
  await enqueueDeliveries(transaction, {
    ...row,
    event: eventOf(announcement),
    webhookIds: webhookIds.map(({ webhookId }) => webhookId),
    now,
  });
}

function eventOf(announcement: Announcement): WebhookEvent {
  const { taskId, unstarted, title, kind, notification, message, status, costUsd, now } = announcement;
  return {
    name: EVENT_NAMES[kind],
    at: now,
    data: {
      ...(taskId === undefined ? {} : { task_id: taskId }),
      ...(unstarted === undefined ? {} : { schedule_id: unstarted.scheduleId }),
      title: shortLine(title, MAX_TITLE_CHARS),
      message: shortLine(message ?? notification.body, MAX_MESSAGE_CHARS),
      ...(status === undefined ? {} : { status }),
      ...(costUsd === undefined ? {} : { cost_usd: Math.round(costUsd * 1e4) / 1e4 }),
    },
  };
}
