/** Parses events of an interaction's stream, as named by the SDK, Google's documentation and the older schema. */

import { isRecord } from "../../platform/is-record.ts";
import type { AgentEvent } from "../research-agent.ts";
import { readText, records } from "./reader.ts";

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
  if (type === "google_search_call") {
    return listIn(payload["arguments"], "queries").map((query) => ({ kind: "search", query: String(query), eventId }));
  }
  return pagesIn(payload).map((page) => ({ kind: "page", ...page, eventId }));
}

/** Far more than a call opens or a passage cites. */
const MAX_PAGES_PER_EVENT = 50;

interface Page {
  use: "opened" | "cited";
  url: string;
  title: string;
}

/** Results of a search contain no addresses: only opened and cited pages are named. */
function pagesIn({ type, result, annotations }: Record<string, unknown>): Page[] {
  // The call names them, too, but only the result says whether they could be opened: `error`, `paywall` or `unsafe`.
  const opened = records(type === "url_context_result" ? result : undefined)
    .filter(({ status = "success" }) => status === "success")
    .map(({ url }) => ({ use: "opened" as const, url: readText(url), title: "" }));
  const cited = records(type === "text_annotation_delta" ? annotations : undefined)
    .filter((annotation) => annotation["type"] === "url_citation")
    .map(({ url, title }) => ({ use: "cited" as const, url: readText(url), title: readText(title) }));
  return [...opened, ...cited].filter(({ url }) => url !== "").slice(0, MAX_PAGES_PER_EVENT);
}

function listIn(value: unknown, key: string): unknown[] {
  const list = isRecord(value) ? value[key] : undefined;
  return Array.isArray(list) ? list : [];
}
