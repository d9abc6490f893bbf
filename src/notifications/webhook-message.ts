/** What a webhook is sent: a thin body in the shape of its receiver, never a whole report; signed as Standard Webhooks says. */

import { createHmac, hash } from "node:crypto";
import { isoTime } from "../platform/clock.ts";
import type { EventName } from "./event-names.ts";
import type { Webhook } from "./webhook-store.ts";

/** Stored with a delivery. */
export interface WebhookEvent {
  name: EventName | "test";
  at: number;
  /** `title` is the question or the name of the run, `message` a sentence of this program about it, or what changed, in words of the report. */
  data: { task_id?: string; schedule_id?: string; title: string; message: string; status?: string; cost_usd?: number };
}

export interface Message {
  url: string;
  headers: Record<string, string>;
  body: string;
}

interface Delivered {
  event: WebhookEvent;
  /** The same for each attempt. */
  messageId: string;
  /** The base of links to the page. */
  publicUrl: string | undefined;
  now: number;
}

/** Of the delivery of one event to one webhook, in all processes and after a restart. */
export const messageIdOf = (parts: readonly (string | null)[]): string =>
  `evt_${hash("sha256", JSON.stringify(parts)).slice(0, 32)}`;

export function messageFor(webhook: Webhook, { event, messageId, publicUrl, now }: Delivered): Message {
  const link = linkTo(event, publicUrl);
  const { url, body } = bodyFor(webhook, { event, messageId, link });
  return signed(webhook, { url, body: JSON.stringify(body), messageId, now });
}

function linkTo({ name, data }: WebhookEvent, publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined || name === "test") return undefined;
  const path = data.task_id === undefined ? "schedules" : `runs/${data.task_id}`;
  return `${publicUrl.replace(/\/+(?:mcp)?\/*$/, "")}/${path}`;
}

interface Body {
  event: WebhookEvent;
  messageId: string;
  link: string | undefined;
}

function bodyFor({ shape, url }: Webhook, { event, messageId, link }: Body): { url: string; body: unknown } {
  const { name, at, data } = event;
  const timestamp = isoTime(at);
  const facts = { ...data, ...(link === undefined ? {} : { url: link }) };
  if (shape === "mcp") return { url, body: { eventId: messageId, name, timestamp, data: facts, cursor: null } };
  if (shape === "slack") return { url, body: { text: slackText(event, link) } };
  if (shape === "teams") return { url, body: teamsCard(event, link) };
  if (shape === "ntfy") return ntfyBody(url, event, link);
  return { url, body: { type: name, timestamp, data: facts } };
}

const HEADINGS: Record<WebhookEvent["name"], string> = {
  "research.finished": "Research finished",
  "research.failed": "Research failed",
  "research.needs_approval": "A research plan waits for your approval",
  "research.changed": "Research: what changed",
  "budget.threshold": "Research budget",
  test: "Test of gemini-search-mcp",
};

/** Slack reads these three characters, and no others, as markup of links and mentions. */
const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function slackText({ name, data }: WebhookEvent, link: string | undefined): string {
  const lines = [`*${HEADINGS[name]}*`, data.title, data.message].filter((line) => line !== "").map(escaped);
  return [...lines, ...(link === undefined ? [] : [`<${link}|Open>`])].join("\n");
}

/** An adaptive card, as the workflows of Teams expect it. Text runs, unlike text blocks, are no Markdown. */
function teamsCard({ name, data }: WebhookEvent, link: string | undefined) {
  const line = (text: string, more: object = {}) => ({
    type: "RichTextBlock",
    inlines: [{ type: "TextRun", text, ...more }],
  });
  const lines = [data.title, data.message].filter((text) => text !== "").map((text) => line(text));
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [line(HEADINGS[name], { weight: "Bolder" }), ...lines],
    ...(link === undefined ? {} : { actions: [{ type: "Action.OpenUrl", title: "Open", url: link }] }),
  };
  return {
    type: "message",
    attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", content }],
  };
}

/** ntfy reads JSON at the root of the server only; the topic is the last part of the address. */
function ntfyBody(address: string, { name, data }: WebhookEvent, link: string | undefined) {
  const url = new URL(address);
  const [, root = "/", topic = ""] = /^(.*\/)([^/]*)\/?$/.exec(url.pathname) ?? [];
  url.pathname = root;
  const message = [data.title, data.message].filter((text) => text !== "").join("\n");
  return {
    url: url.href,
    body: { topic, title: HEADINGS[name], message, ...(link === undefined ? {} : { click: link }) },
  };
}

interface Unsigned {
  url: string;
  body: string;
  messageId: string;
  now: number;
}

/** The time is that of the attempt: a receiver refuses one that is older than five minutes. */
export function signed(
  { secret, shape, webhookId }: Pick<Webhook, "secret" | "shape" | "webhookId">,
  { url, body, messageId, now }: Unsigned,
): Message {
  const headers = { "content-type": "application/json" };
  if (secret === undefined) return { url, body, headers };
  const seconds = String(Math.floor(now / 1_000));
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signature = createHmac("sha256", key).update(`${messageId}.${seconds}.${body}`).digest("base64");
  return {
    url,
    body,
    headers: {
      ...headers,
      "webhook-id": messageId,
      "webhook-timestamp": seconds,
      "webhook-signature": `v1,${signature}`,
      ...(shape === "mcp" ? { "x-mcp-subscription-id": webhookId } : {}),
    },
  };
}
