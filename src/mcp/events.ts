/**
 * MCP Events (draft SEP-3415), over HTTP: a client lists the events, subscribes a callback of its own, and renews the
 * subscription. Deliveries are those of webhooks (`notifications/`). Shapes: docs/engineering/fidelity.md, "MCP Events".
 */

import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerCapabilities,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { App } from "../app.ts";
import { AppError } from "../errors.ts";
import type { Refusal } from "../notifications/subscriptions.ts";
import { EVENTS, type EventName } from "../notifications/event-names.ts";
import { isoTime } from "../platform/clock.ts";
import type { Connection } from "./client.ts";

/** The SDK does not know the capability. */
export const eventCapabilities = ({ offersEvents = false }: Connection): ServerCapabilities & { events?: object } =>
  offersEvents ? { events: {} } : {};

/** As clients of today read them; the draft may number them anew. */
const NOT_FOUND = -32_011;
const RESOURCE_EXHAUSTED = -32_013;
const UNSUPPORTED = -32_014;
const CALLBACK_ENDPOINT = -32_015;

const WHEN: Record<EventName, string> = {
  "research.finished": "A research has its report.",
  "research.failed": "A research has failed, or a repeated one was not started.",
  "research.needs_approval": "The plan of a research waits for the user's approval.",
  "research.changed": "A repeated research has a report: what changed since the previous one.",
  "budget.threshold":
    "The start of a research has reached a threshold of a budget, or a repeated one has no room in it.",
};

const ABOUT_RUN = { type: "string", description: "Only events of this run; of all runs if it is missing." };

/** No tool of this server adds one: a model chooses no address. */
const definitions = EVENTS.map((name) => ({
  name,
  description: WHEN[name],
  delivery: ["webhook"],
  inputSchema: {
    type: "object",
    properties: name === "budget.threshold" ? {} : { task_id: ABOUT_RUN },
    additionalProperties: false,
  },
  payloadSchema: {
    type: "object",
    properties: {
      task_id: { type: "string", description: "For get_research_results and check_research_status." },
      schedule_id: { type: "string", description: "Of a repeated research that was not started; there is no task_id." },
      title: { type: "string", description: "The question, or the name of the run." },
      message: { type: "string" },
      status: { type: "string" },
      cost_usd: { type: "number" },
      url: { type: "string", description: "The run, or the schedules, on the page." },
    },
    required: ["title", "message"],
  },
}));

/** Loaded on demand: few clients subscribe, and the start-up should be fast. */
const subscriptions = () => import("../notifications/subscriptions.ts");

/** Over HTTP there is a server for each request, so that schemas are made once. */
const anyList = z.looseObject({}).optional();
const delivery = z.looseObject({ mode: z.string(), url: z.string().max(2_000) });
const anySubscription = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).nullish(),
  delivery,
});
const newSubscription = anySubscription.extend({
  delivery: delivery.extend({ secret: z.string() }),
  ttlMs: z.number().int().positive().nullish(),
});

export function serveEvents(
  { server }: McpServer,
  { deps, webhooks }: App,
  { caller, offersEvents }: Connection,
): void {
  if (offersEvents !== true) return;
  const { owner } = caller;
  const subjectOf = ({ name, arguments: given, delivery: { mode, url } }: z.infer<typeof anySubscription>) => {
    const event = EVENTS.find((known) => known === name);
    if (event === undefined) throw new ProtocolError(NOT_FOUND, "There is no such event.", { kind: "event" });
    if (mode !== "webhook") throw new ProtocolError(UNSUPPORTED, "Events are delivered to a webhook only.");
    return { owner, url, event, taskId: taskIn(event, given ?? {}) };
  };
  server.setRequestHandler("events/list", { params: anyList }, () => ({ events: definitions }));
  server.setRequestHandler("events/subscribe", { params: newSubscription }, async (given) => {
    const subject = subjectOf(given);
    if (subject.taskId !== undefined) await deps.findRun(owner, subject.taskId).catch(refuseRun);
    const { secret } = given.delivery;
    const db = await deps.database();
    const { subscribe } = await subscriptions();
    const subscribed = await subscribe(db, { ...subject, secret, ttlMs: given.ttlMs ?? undefined }, webhooks());
    if ("refusal" in subscribed) throw refused(subscribed.refusal);
    return { id: subscribed.id, refreshBefore: isoTime(subscribed.expiresAt), cursor: null, truncated: false };
  });
  server.setRequestHandler("events/unsubscribe", { params: anySubscription }, async (given) => {
    const { deleteSubscription, subscriptionId } = await subscriptions();
    await deleteSubscription(await deps.database(), subscriptionId(subjectOf(given)));
    return {};
  });
}

function taskIn(event: EventName, given: Record<string, unknown>): string | undefined {
  const { task_id: taskId, ...others } = given;
  const isUsable = taskId === undefined || (typeof taskId === "string" && event !== "budget.threshold");
  if (isUsable && Object.keys(others).length === 0) return taskId;
  throw invalid("The arguments do not match the inputSchema of the event.");
}

function refuseRun(error: unknown): never {
  if (!(error instanceof AppError)) throw error;
  throw new ProtocolError(NOT_FOUND, "There is no run with this id.", { kind: "task" });
}

function refused(refusal: Refusal): ProtocolError {
  if (refusal.kind === "invalid") return invalid(refusal.message);
  if (refusal.kind === "full") {
    const { max } = refusal;
    return new ProtocolError(RESOURCE_EXHAUSTED, `There are ${max} subscriptions already.`, {
      limit: "subscriptions",
      max,
    });
  }
  return new ProtocolError(CALLBACK_ENDPOINT, "The callback could not be verified.", { reason: refusal.reason });
}

const invalid = (message: string): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidParams, message);
