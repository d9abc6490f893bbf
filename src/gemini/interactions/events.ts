/** Reads the events of an interaction's stream, by the names of the SDK, of Google's documents and of the older schema. */

import { isRecord } from "../../platform/is-record.ts";
import type { AgentEvent } from "../research-agent.ts";

const COMPLETED = new Set(["interaction.completed", "interaction.complete"]);
const DELTAS = new Set(["step.delta", "content.delta"]);
/** One thing under two names. */
const THOUGHTS = new Set(["thought_summary", "thought"]);

export function readEvent(event: unknown): AgentEvent[] {
  if (!isRecord(event)) return [];
  const type = String(event["event_type"]);
  const eventId = typeof event["event_id"] === "string" && event["event_id"] !== "" ? event["event_id"] : undefined;
  if (COMPLETED.has(type)) return [{ kind: "done", eventId }];
  if (type === "error") return [{ kind: "error", eventId }];
  if (type === "interaction.status_update") return [{ kind: "status", rawStatus: String(event["status"]), eventId }];
  const payload = DELTAS.has(type) ? event["delta"] : event["step"];
  return isRecord(payload) ? readPayload(payload, eventId) : [];
}

function readPayload(payload: Record<string, unknown>, eventId: string | undefined): AgentEvent[] {
  const { type, content } = payload;
  if (type === "text" && typeof payload["text"] === "string") return [{ kind: "text", text: payload["text"], eventId }];
  if (typeof type === "string" && THOUGHTS.has(type)) {
    const text = isRecord(content) ? content["text"] : (content ?? payload["text"] ?? payload["thought"]);
    return typeof text === "string" && text !== "" ? [{ kind: "thought", text, eventId }] : [];
  }
  if (type !== "google_search_call" || !isRecord(payload["arguments"])) return [];
  const queries = payload["arguments"]["queries"];
  return Array.isArray(queries) ? queries.map((query) => ({ kind: "search", query: String(query), eventId })) : [];
}
