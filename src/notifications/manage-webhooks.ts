/** What an owner does with webhooks, in the terminal and on the page: add, list, test and remove. */

import { z } from "zod";
import { AppError } from "../errors.ts";
import { RefusedError } from "../pages/guard/dial.ts";
import { checkTarget } from "../pages/transport/post.ts";
import { isoTime } from "../platform/clock.ts";
import type { Database } from "../store/database.ts";
import { dropDeliveries } from "./outbox.ts";
import { isAccepted, outcomeText, sendTest, type WebhookSenderDeps } from "./webhook-sender.ts";
import { EVENTS, SHAPES } from "./event-names.ts";
import { addWebhook, deleteWebhook, setDisabled, listWebhooks, requireWebhook, type Webhook } from "./webhook-store.ts";

/** Without the secret, and of the address only its host: the rest of it may be a secret, too. */
export interface WebhookView {
  webhook_id: string;
  address: string;
  shape: string;
  events: string[];
  created_at: string;
  /** Of a subscription of an MCP client, unless the client renews it. */
  expires_at?: string | undefined;
  /** Why nothing is sent any more. */
  disabled?: string | undefined;
}

const viewOf = ({ webhookId, url, shape, events, createdAt, expiresAt, disabled }: Webhook): WebhookView => ({
  webhook_id: webhookId,
  address: `${new URL(url).origin}/…`,
  shape,
  events,
  created_at: isoTime(createdAt),
  ...(expiresAt === undefined ? {} : { expires_at: isoTime(expiresAt) }),
  ...(disabled === undefined ? {} : { disabled }),
});

export const webhookInput = z.object({
  url: z.string().trim().max(2_000),
  shape: z.enum(SHAPES).default("standard"),
  events: z
    .array(z.enum(EVENTS))
    .min(1)
    .transform((names) => [...new Set(names)])
    .default([...EVENTS]),
});

export interface AddedWebhook extends WebhookView {
  /** Shown this one time. */
  secret?: string | undefined;
}

interface Owned {
  owner: string;
  now: number;
}

/** `isPrivate` only where the operator of this machine has asked for it. */
export async function createWebhook(
  db: Database,
  given: Record<string, unknown>,
  { isPrivate = false, ...owned }: Owned & { isPrivate?: boolean },
): Promise<AddedWebhook> {
  const parsed = webhookInput.safeParse(given);
  if (!parsed.success) {
    throw unusable(
      "The webhook cannot be added.",
      `It has a url, a shape (${SHAPES.join(", ")}) and events (${EVENTS.join(", ")}).`,
    );
  }
  try {
    checkTarget(parsed.data.url, isPrivate);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    throw unusable(
      error.message,
      "For an address in your own network, the operator adds the webhook in the terminal with --private.",
    );
  }
  const webhook = await addWebhook(db, { ...parsed.data, ...owned, isPrivate });
  return { ...viewOf(webhook), ...(webhook.secret === undefined ? {} : { secret: webhook.secret }) };
}

export const readWebhooks = async (db: Database, owner: string): Promise<WebhookView[]> =>
  (await listWebhooks(db, owner)).map(viewOf);

type OfOwner = Pick<Webhook, "owner" | "webhookId">;

export interface TestOfWebhook {
  delivered: boolean;
  message: string;
}

/** A webhook that was disabled is used again once a test of it succeeds. */
export async function testWebhook(db: Database, of: OfOwner, deps: WebhookSenderDeps): Promise<TestOfWebhook> {
  const webhook = await requireWebhook(db, of);
  if (webhook.shape === "mcp") {
    throw unusable("Only its client can test a subscription.", "The client verified it when it subscribed.");
  }
  const outcome = await sendTest(webhook, deps);
  const delivered = isAccepted(outcome);
  if (delivered && webhook.disabled !== undefined) await setDisabled(db, webhook.webhookId, null);
  return { delivered, message: outcomeText(outcome) };
}

export async function removeWebhook(db: Database, of: OfOwner): Promise<void> {
  const { webhookId } = await requireWebhook(db, of);
  await deleteWebhook(db, webhookId);
  await dropDeliveries(db, webhookId);
}

const unusable = (message: string, suggestion: string): AppError =>
  new AppError({ code: "INVALID_INPUT", message, suggestion });
