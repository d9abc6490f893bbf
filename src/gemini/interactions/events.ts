/** Parses events of an interaction's stream, as named by the SDK, Google's documentation and the older schema. */

import { isRecord } from "../../platform/is-record.ts";
import type { AgentEvent } from "../research-agent.ts";

const COMPLETED_EVENTS = new Set(["interaction.completed", "interaction.complete"]);
const DELTA_EVENTS = new Set(["step.delta", "content.delta"]);
/** The SDK and Google's documentation name the same delta differently. */
const THOUGHT_TYPES = new Set(["thought_summary", "thought"]);

export function readEvent(event: unknown): AgentEvent[] {
  if (!isRecord(event)) return [];
  const type = String(event["event_type"]);
  const eventId = typeof event["event_id"] === "string" && event["event_id"] !== "" ? event["event_id"] : undefined;
  if (COMPLETED_EVENTS.has(type)) return [{ kind: "done", eventId }];
  if (type === "error") return [{ kind: "error", eventId }];
  if (type === "interaction.status_update") return [{ kind: "status", rawStatus: String(event["status"]), eventId }];
  const payload = DELTA_EVENTS.has(type) ? event["delta"] : event["step"];
  return isRecord(payload) ? readPayload(payload, eventId) : [];
}

function readPayload(payload: Record<string, unknown>, eventId: string | undefined): AgentEvent[] {
  const { type, content } = payload;
  if (type === "text" && typeof payload["text"] === "string") return [{ kind: "text", text: payload["text"], eventId }];
  if (typeof type === "string" && THOUGHT_TYPES.has(type)) {
    const text = isRecord(content) ? content["text"] : (content ?? payload["text"] ?? payload["thought"]);
    return typeof text === "string" && text !== "" ? [{ kind: "thought", text, eventId }] : [];
  }
  if (type !== "google_search_call" || !isRecord(payload["arguments"])) return [];
  const queries = payload["arguments"]["queries"];
  return Array.isArray(queries) ? queries.map((query) => ({ kind: "search", query: String(query), eventId })) : [];
}
