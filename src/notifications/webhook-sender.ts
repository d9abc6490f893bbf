/**
 * Sends events to webhooks: at least once, one at a time to each, and again after a failure, at the intervals that Standard
 * Webhooks suggests. A receiver that is gone, or accepts nothing for a day and a half, is sent nothing more.
 */

import { randomBytes } from "node:crypto";
import type { Post, Posted } from "../pages/transport/post.ts";
import { countOf } from "../platform/count.ts";
import type { Clock } from "../platform/clock.ts";
import { failpoint } from "../platform/failpoint.ts";
import { isRecord } from "../platform/is-record.ts";
import type { Log } from "../platform/log.ts";
import { parseJson } from "../platform/parse-json.ts";
import type { Database } from "../store/database.ts";
import {
  claimDelivery,
  type Delivery,
  dropDeliveries,
  dropDelivery,
  hasDeliveredSince,
  settleDelivery,
} from "./outbox.ts";
import { messageFor, messageIdOf, signed, type WebhookEvent } from "./webhook-message.ts";
import { deleteExpired, setDisabled, findWebhook, type Webhook } from "./webhook-store.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const RETRY_DELAYS_MS: readonly number[] = [
  5_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  24 * HOUR_MS,
];

const MAX_IN_FLIGHT = 10;

export interface WebhookSenderDeps {
  clock: Clock;
  post: Post;
  /** The base of links to the page, where there is one. */
  publicUrl: string | undefined;
  /** Aborted at shutdown: what is in flight is sent again by the next process. */
  signal: AbortSignal;
}

export interface WebhookSenderOptions extends WebhookSenderDeps {
  db: Database;
  processId: string;
  log: Log;
}

export interface WebhookSender {
  /** Makes the attempts that are due, and returns their number. */
  deliverDue(): Promise<number>;
}

export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { db, processId, clock, signal } = options;
  let running: Promise<number> | undefined;
  const deliverAll = async (): Promise<number> => {
    const inFlight = new Map<string, Promise<void>>();
    let attempts = 0;
    await deleteExpired(db, clock.now());
    while (!signal.aborted) {
      const before = [...inFlight.values()];
      const busy = [...inFlight.keys()];
      const isFull = busy.length >= MAX_IN_FLIGHT;
      const delivery = isFull ? undefined : await claimDelivery(db, { processId, now: clock.now(), busy });
      if (delivery !== undefined) {
        attempts += 1;
        const attempt = deliver(delivery, options)
          // The claim ends by itself.
          .catch(() => options.log.debug("The outcome of a delivery could not be stored."))
          .finally(() => inFlight.delete(delivery.webhookId));
        inFlight.set(delivery.webhookId, attempt);
      } else if (before.length === 0) break;
      // Something else may be due for a receiver that was busy, even if it was only until the claim had failed.
      else await Promise.race(before);
    }
    await Promise.all(inFlight.values());
    return attempts;
  };
  return {
    deliverDue: () => {
      running ??= deliverAll().finally(() => (running = undefined));
      return running;
    },
  };
}

async function deliver(delivery: Delivery, options: WebhookSenderOptions): Promise<void> {
  const { db, clock, signal } = options;
  const webhook = await findWebhook(db, delivery.webhookId);
  if (webhook === undefined || webhook.disabled !== undefined) return dropDeliveries(db, delivery.webhookId);
  failpoint("after-delivery-claim");
  try {
    const { webhookId, taskId, kind, event } = delivery;
    const outcome = await sendTo(webhook, event, { ...options, messageId: messageIdOf([webhookId, taskId, kind]) });
    failpoint("after-delivery");
    await settle(delivery, { webhook, outcome }, options);
  } catch (error) {
    // Not an attempt: the receiver has not refused it.
    if (signal.aborted) {
      await settleDelivery(db, delivery, { attempts: delivery.attempts, notBefore: clock.now() });
    } else throw error;
  }
}

async function settle(
  delivery: Delivery,
  { webhook, outcome }: { webhook: Webhook; outcome: Posted },
  { db, clock, log }: WebhookSenderOptions,
): Promise<void> {
  // Too large to ever be accepted.
  if (isAccepted(outcome) || (outcome.kind === "answered" && outcome.status === 413)) {
    return settleDelivery(db, delivery, { sentAt: clock.now() });
  }
  const attempts = delivery.attempts + 1;
  const delay = RETRY_DELAYS_MS[delivery.attempts];
  const isGone = outcome.kind === "answered" && outcome.status === 410;
  const { host } = new URL(webhook.url);
  if (!isGone && delay !== undefined) {
    log.debug(`A webhook at ${host} was not delivered: ${outcomeText(outcome)}`);
    return settleDelivery(db, delivery, { attempts, notBefore: clock.now() + delay });
  }
  if (!isGone && (await hasDeliveredSince(db, delivery))) {
    await dropDelivery(db, delivery);
    log.warn(`A message to the webhook ${webhook.webhookId} at ${host} is abandoned. ${outcomeText(outcome)}`);
    return;
  }
  const reason = isGone
    ? "The receiver answered that it is gone (status 410)."
    : `${countOf(attempts, "attempt")} failed; the last one: ${outcomeText(outcome)}`;
  await setDisabled(db, webhook.webhookId, reason);
  await dropDeliveries(db, webhook.webhookId);
  log.warn(`The webhook ${webhook.webhookId} at ${host} is disabled. ${reason}`);
}

export const isAccepted = (outcome: Posted): boolean =>
  outcome.kind === "answered" && outcome.status >= 200 && outcome.status < 300;

export const outcomeText = (outcome: Posted): string =>
  outcome.kind === "answered" ? `The receiver answered with status ${outcome.status}.` : outcome.reason;

/** Rejects only if the signal is aborted. */
function sendTo(
  webhook: Webhook,
  event: WebhookEvent,
  { post, clock, publicUrl, signal, messageId }: WebhookSenderDeps & { messageId: string },
): Promise<Posted> {
  const message = messageFor(webhook, { event, messageId, publicUrl, now: clock.now() });
  return post({ ...message, isPrivate: webhook.isPrivate }, signal);
}

/** A message that shows its owner that a webhook works. It is not tried again. */
export function sendTest(webhook: Webhook, deps: WebhookSenderDeps): Promise<Posted> {
  const data = { title: "", message: "This webhook works." };
  const messageId = `test_${randomBytes(12).toString("hex")}`;
  return sendTo(webhook, { name: "test", at: deps.clock.now(), data }, { ...deps, messageId });
}

/** The receiver of a subscription must want it: it reads a challenge that only the secret could sign, and returns it. */
export async function verifyReceiver(
  webhook: Webhook,
  { post, clock, signal }: WebhookSenderDeps,
): Promise<"verified" | "challenge failed" | Posted> {
  const challenge = randomBytes(24).toString("base64url");
  const body = JSON.stringify({ type: "verification", challenge });
  const messageId = `msg_verification_${randomBytes(12).toString("hex")}`;
  const message = signed(webhook, { url: webhook.url, body, messageId, now: clock.now() });
  const outcome = await post({ ...message, isPrivate: webhook.isPrivate }, signal);
  if (outcome.kind !== "answered" || outcome.status >= 400) return outcome;
  return isAccepted(outcome) && echoOf(outcome.text) === challenge ? "verified" : "challenge failed";
}

function echoOf(text: string): unknown {
  const answer = parseJson(text);
  return isRecord(answer) ? answer["challenge"] : undefined;
}
