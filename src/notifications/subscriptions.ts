/** Subscriptions of MCP clients to events: verified before the first delivery, renewed by subscribing again. */

import { hash } from "node:crypto";
import { RefusedError } from "../pages/guard/dial.ts";
import { checkTarget } from "../pages/transport/post.ts";
import type { Posted } from "../pages/transport/post.ts";
import type { Database } from "../store/database.ts";
import { dropDeliveries } from "./outbox.ts";
import { verifyReceiver, type WebhookSenderDeps } from "./webhook-sender.ts";
import { type EventName } from "./event-names.ts";
import { countSubscriptions, deleteWebhook, findWebhook, saveWebhook, type Webhook } from "./webhook-store.ts";

/** For each owner. */
const MAX_SUBSCRIPTIONS = 100;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const DEFAULT_TTL_MS = 7 * DAY_MS;
const MAX_TTL_MS = 30 * DAY_MS;

interface Subject extends Pick<Webhook, "owner" | "url" | "taskId"> {
  event: EventName;
}

/** One per owner, callback, event and run: to subscribe again renews it. */
export const subscriptionId = ({ owner, url, event, taskId = "" }: Subject): string =>
  `sub_${hash("sha256", JSON.stringify([owner, url, event, taskId])).slice(0, 32)}`;

interface NewSubscription extends Subject {
  secret: string;
  ttlMs: number | undefined;
}

export type Refusal =
  | { kind: "invalid"; message: string }
  | { kind: "full"; max: number }
  /** As the draft names what is wrong with a callback. */
  | { kind: "callback"; reason: string };

export async function subscribe(
  db: Database,
  { event, secret, ttlMs = DEFAULT_TTL_MS, ...subject }: NewSubscription,
  sender: WebhookSenderDeps,
): Promise<{ id: string; expiresAt: number } | { refusal: Refusal }> {
  if (!isSecret(secret)) {
    return { refusal: { kind: "invalid", message: "The secret must be whsec_ and the base64 of 24 to 64 bytes." } };
  }
  const { owner, url } = subject;
  try {
    checkTarget(url, false);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return { refusal: { kind: "invalid", message: error.message } };
  }
  const id = subscriptionId({ ...subject, event });
  const now = sender.clock.now();
  const before = await findWebhook(db, id);
  const webhook: Webhook = {
    ...subject,
    webhookId: id,
    secret,
    shape: "mcp",
    events: [event],
    isPrivate: false,
    createdAt: before?.createdAt ?? now,
    expiresAt: now + Math.min(MAX_TTL_MS, Math.max(MINUTE_MS, ttlMs)),
    disabled: undefined,
  };
  const isActive = before !== undefined && before.disabled === undefined && before.secret === secret;
  if (!isActive) {
    if (before === undefined && (await countSubscriptions(db, owner)) >= MAX_SUBSCRIPTIONS) {
      return { refusal: { kind: "full", max: MAX_SUBSCRIPTIONS } };
    }
    const verified = await verifyReceiver(webhook, sender);
    if (verified !== "verified") return { refusal: refusalOf(verified) };
  }
  await saveWebhook(db, webhook);
  return { id, expiresAt: webhook.expiresAt ?? now };
}

function isSecret(text: string): boolean {
  const [, encoded = ""] = /^whsec_([\w+/]+={0,2})$/.exec(text) ?? [];
  const { length } = Buffer.from(encoded, "base64");
  return length >= 24 && length <= 64;
}

function refusalOf(outcome: "challenge failed" | Posted): Refusal {
  if (outcome === "challenge failed") return { kind: "callback", reason: "challenge_failed" };
  if (outcome.kind === "answered") return { kind: "callback", reason: outcome.status >= 500 ? "http_5xx" : "http_4xx" };
  if (outcome.cause === "refused") return { kind: "invalid", message: outcome.reason };
  return { kind: "callback", reason: REASONS[outcome.cause] };
}

const REASONS = { timeout: "timeout", certificate: "tls_error", connection: "connection_refused" };

/** Nothing if there is none: a client may repeat the request. */
export async function deleteSubscription(db: Database, id: string): Promise<void> {
  await deleteWebhook(db, id);
  await dropDeliveries(db, id);
}
