/**
 * All SQL of the webhooks: who is sent which events, where, and signed with which secret. A subscription of an MCP client
 * is a webhook that expires.
 */

import { randomBytes } from "node:crypto";
import type { Selectable } from "kysely";
import { AppError } from "../errors.ts";
import type { Database, Tables } from "../store/database.ts";
import { type EventName, EVENTS, type SHAPES } from "./event-names.ts";

type Shape = (typeof SHAPES)[number] | "mcp";

export interface Webhook {
  webhookId: string;
  owner: string;
  url: string;
  secret: string | undefined;
  shape: Shape;
  events: EventName[];
  /** Only events of this run. */
  taskId: string | undefined;
  isPrivate: boolean;
  createdAt: number;
  expiresAt: number | undefined;
  disabled: string | undefined;
}

/** For each owner. */
const MAX_WEBHOOKS = 20;

export interface NewWebhook extends Pick<Webhook, "owner" | "url" | "events" | "isPrivate"> {
  shape: (typeof SHAPES)[number];
  now: number;
}

/** The secret is in the answer, and is not shown again. */
export async function addWebhook(db: Database, { now, ...given }: NewWebhook): Promise<Webhook> {
  if ((await count(db, { owner: given.owner, comparison: "!=" })) >= MAX_WEBHOOKS) {
    throw new AppError({
      code: "INVALID_INPUT",
      message: `There are ${MAX_WEBHOOKS} webhooks already.`,
      suggestion: "Remove one that is not needed.",
    });
  }
  const webhook: Webhook = {
    ...given,
    webhookId: `whk_${randomBytes(6).toString("hex")}`,
    secret: given.shape === "standard" ? newSecret() : undefined,
    taskId: undefined,
    createdAt: now,
    expiresAt: undefined,
    disabled: undefined,
  };
  await saveWebhook(db, webhook);
  return webhook;
}

/** In the form of Standard Webhooks. */
const newSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`;

/** Replaces a webhook with the same id. */
export async function saveWebhook(db: Database, webhook: Webhook): Promise<void> {
  const row = {
    webhook_id: webhook.webhookId,
    owner: webhook.owner,
    url: webhook.url,
    secret: webhook.secret ?? null,
    shape: webhook.shape,
    events: ` ${webhook.events.join(" ")} `,
    task_id: webhook.taskId ?? null,
    is_private: webhook.isPrivate ? (1 as const) : (0 as const),
    created_at: webhook.createdAt,
    expires_at: webhook.expiresAt ?? null,
    disabled: webhook.disabled ?? null,
  };
  await db
    .insertInto("webhooks")
    .values(row)
    .onConflict((conflict) => conflict.column("webhook_id").doUpdateSet(row))
    .execute();
}

export const countSubscriptions = (db: Database, owner: string): Promise<number> =>
  count(db, { owner, comparison: "=" });

async function count(db: Database, { owner, comparison }: { owner: string; comparison: "=" | "!=" }): Promise<number> {
  const row = await db
    .selectFrom("webhooks")
    .select((webhook) => webhook.fn.countAll<number>().as("count"))
    .where("owner", "=", owner)
    .where("shape", comparison, "mcp")
    .executeTakeFirst();
  return row?.count ?? 0;
}

/** With the subscriptions of MCP clients, which their owner may end. */
export async function listWebhooks(db: Database, owner: string): Promise<Webhook[]> {
  const webhooks = db.selectFrom("webhooks").selectAll().where("owner", "=", owner);
  return (await webhooks.orderBy("created_at").orderBy("webhook_id").execute()).map(webhookOf);
}

export async function findWebhook(db: Database, webhookId: string): Promise<Webhook | undefined> {
  const row = await db.selectFrom("webhooks").selectAll().where("webhook_id", "=", webhookId).executeTakeFirst();
  return row && webhookOf(row);
}

/** Another owner's webhook is the same as none. */
export async function requireWebhook(
  db: Database,
  { owner, webhookId }: Pick<Webhook, "owner" | "webhookId">,
): Promise<Webhook> {
  const webhook = await findWebhook(db, webhookId);
  if (webhook !== undefined && webhook.owner === owner) return webhook;
  throw new AppError({
    code: "INVALID_INPUT",
    message: "There is no webhook with this id.",
    suggestion: "The list of webhooks shows their ids.",
    details: { status: 404 },
  });
}

/** Part of the transaction that records the event. */
export async function webhooksFor(
  transaction: Database,
  { owner, event, now }: { owner: string; event: EventName; now: number },
): Promise<Pick<Webhook, "webhookId" | "taskId">[]> {
  const rows = await transaction
    .selectFrom("webhooks")
    .select(["webhook_id", "task_id"])
    .where("owner", "=", owner)
    .where("events", "like", `% ${event} %`)
    .where("disabled", "is", null)
    .where(({ or, eb }) => or([eb("expires_at", "is", null), eb("expires_at", ">", now)]))
    .execute();
  return rows.map(({ webhook_id, task_id }) => ({ webhookId: webhook_id, taskId: task_id ?? undefined }));
}

export async function setDisabled(db: Database, webhookId: string, reason: string | null): Promise<void> {
  await db.updateTable("webhooks").set({ disabled: reason }).where("webhook_id", "=", webhookId).execute();
}

/** What becomes of runs is no longer sent to a user who has lost access. */
export async function disableWebhooksOf(db: Database, owner: string): Promise<void> {
  await db.updateTable("webhooks").set({ disabled: "The token was revoked." }).where("owner", "=", owner).execute();
}

export async function deleteWebhook(db: Database, webhookId: string): Promise<void> {
  await db.deleteFrom("webhooks").where("webhook_id", "=", webhookId).execute();
}

/** Subscriptions that their clients have not renewed. */
export async function deleteExpired(db: Database, now: number): Promise<void> {
  const expired = db.selectFrom("webhooks").select("webhook_id").where("expires_at", "<=", now);
  // Usually there is none, and a deletion without effect would still wait for the write lock.
  if ((await expired.limit(1).executeTakeFirst()) === undefined) return;
  await db.deleteFrom("webhooks").where("expires_at", "<=", now).execute();
}

function webhookOf(row: Selectable<Tables["webhooks"]>): Webhook {
  const names = new Set(row.events.trim().split(" "));
  return {
    webhookId: row.webhook_id,
    owner: row.owner,
    url: row.url,
    secret: row.secret ?? undefined,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema admits no other
    shape: row.shape as Shape,
    events: EVENTS.filter((name) => names.has(name)),
    taskId: row.task_id ?? undefined,
    isPrivate: row.is_private === 1,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    disabled: row.disabled ?? undefined,
  };
}
