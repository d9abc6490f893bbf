/**
 * Parses an interaction and the events of its stream as Google sends them, in the current and the older schema, without
 * trusting any field, and joins its report from the output steps, with the positions of citations and pictures.
 */

import { cleanTextAt } from "../../platform/clean-text.ts";
import { isRecord } from "../../platform/is-record.ts";
import type {
  AgentCitation,
  AgentEvent,
  AgentPicture,
  AgentUsage,
  FailureCause,
  Interaction,
  InteractionStatus,
} from "../research-agent.ts";
import type { VisitedSource } from "../search-backend.ts";

export function readInteraction(raw: unknown): Interaction | undefined {
  if (!isRecord(raw) || typeof raw["id"] !== "string" || raw["id"] === "") return undefined;
  const steps = readSteps(raw);
  const rawStatus = readText(raw["status"]);
  return {
    id: raw["id"],
    status: readStatus(rawStatus),
    rawStatus,
    ...joinReport(steps),
    usage: readUsage(raw["usage"]),
    thoughts: steps.flatMap(thoughtsIn),
    searches: steps.flatMap(searchesIn),
    searchSuggestions: suggestionsIn(steps),
    failureCause: failureCauseOf(raw, steps),
    raw: withoutSdkFields(raw),
  };
}

const STATUSES = new Map<string, InteractionStatus>([
  ["queued", "working"],
  ["in_progress", "working"],
  ["requires_continuation", "working"],
  ["completed", "completed"],
  ["failed", "failed"],
  ["cancelled", "cancelled"],
  ["incomplete", "ended_early"],
  ["budget_exceeded", "ended_early"],
  ["requires_action", "ended_early"],
]);

export const readStatus = (rawStatus: string): InteractionStatus => STATUSES.get(rawStatus) ?? "unknown";

/** Interactions have `steps` since May 2026; before that they had `outputs`, a flat list of contents. */
function readSteps(raw: Record<string, unknown>): InteractionStep[] {
  const steps = records(raw["steps"]);
  if (steps.length > 0) return steps;
  return records(raw["outputs"]).map((output) =>
    output["type"] === "text" || output["type"] === "image" ? { type: "model_output", content: [output] } : output,
  );
}

function thoughtsIn(step: InteractionStep): string[] {
  if (step["type"] !== "thought") return [];
  const summary = step["summary"];
  if (typeof summary === "string") return [summary];
  return records(summary)
    .map((part) => readText(part["text"]))
    .filter((thought) => thought !== "");
}

function searchesIn(step: InteractionStep): string[] {
  if (step["type"] !== "google_search_call") return [];
  const queries = isRecord(step["arguments"]) ? step["arguments"]["queries"] : undefined;
  const listed = Array.isArray(queries) ? queries.filter((query) => typeof query === "string") : [];
  return listed.length > 0 ? listed : [""];
}

/** In the older schema the field was called `rendered_content`. */
function suggestionsIn(steps: InteractionStep[]): string[] {
  const results = steps.filter(({ type }) => type === "google_search_result").flatMap(({ result }) => records(result));
  const all = results.map((result) => readText(result["search_suggestions"]) || readText(result["rendered_content"]));
  return [...new Set(all.filter((html) => html !== ""))];
}

/** Undefined until Google reports usage, and for implausible counts, which would become a wrong cost. */
export function readUsage(raw: unknown): AgentUsage | undefined {
  if (!isRecord(raw)) return undefined;
  // Pages fetched by tools are billed as input.
  const input = sumOf(raw["total_input_tokens"], raw["total_tool_use_tokens"]);
  const output = sumOf(raw["total_output_tokens"], raw["total_thought_tokens"]);
  if (input === undefined || output === undefined || input + output === 0) return undefined;
  const searches = records(raw["grounding_tool_count"]).filter(({ type }) => type === "google_search");
  return {
    input,
    output,
    cached: Math.min(sumOf(raw["total_cached_tokens"]) ?? 0, input),
    searches: sumOf(...searches.map(({ count }) => count)) ?? 0,
  };
}

/** Far above any interaction, and small enough for exact sums in every database. */
const MAX_TOKENS = 1_000_000_000_000;

/** Undefined if a value is not a count. Fractions are rounded up, because databases store integers. */
function sumOf(...counts: unknown[]): number | undefined {
  let sum = 0;
  for (const count of counts) {
    if (count === undefined || count === null) continue;
    if (typeof count !== "number" || !(count >= 0 && count <= MAX_TOKENS)) return undefined;
    sum += Math.ceil(count);
  }
  return sum <= MAX_TOKENS ? sum : undefined;
}

/** Without the SDK's additions: its view of the HTTP response, and copies of data in the steps. */
function withoutSdkFields(raw: Record<string, unknown>): Record<string, unknown> {
  const { sdkHttpResponse: _response, output_text: _text, output_image: _image, ...kept } = raw;
  return kept;
}

type InteractionStep = Record<string, unknown>;

interface JoinedReport {
  report: string;
  earlierOutputs: string[];
  sources: VisitedSource[];
  citations: AgentCitation[];
  pictures: AgentPicture[];
}

/**
 * Joins all outputs after the last tool step or user input, like the SDK's `output_text`: a report may be split into
 * several outputs with thoughts between them. Unlike there, a picture between two texts does not end the report.
 *
 * The text is cleaned here, once, and Google's offsets become positions in the clean text: nothing behind this function
 * sees the bytes that Google counts.
 */
function joinReport(steps: InteractionStep[]): JoinedReport {
  const reportStart = startOfReport(steps);
  const joined: JoinedReport = { report: "", earlierOutputs: [], sources: [], citations: [], pictures: [] };
  const sources: Sources = new Map();
  let offset = 0;
  for (const [index, step] of steps.entries()) {
    if (step["type"] !== "model_output") continue;
    const parts = records(step["content"]);
    if (index < reportStart) {
      const earlier = parts.map(textOfPart).join("");
      if (earlier.trim() !== "") joined.earlierOutputs.push(earlier);
    }
    for (const part of parts) {
      const picture = readPicture(part, offset);
      if (picture !== undefined) joined.pictures.push(picture);
      const text = index < reportStart ? "" : textOfPart(part);
      if (text === "") continue;
      const length = Buffer.byteLength(text);
      for (const annotation of records(part["annotations"])) {
        const citation = readCitation(annotation, { sources, offset, length });
        if (citation !== undefined) joined.citations.push(citation);
      }
      joined.report += text;
      offset += length;
    }
  }
  joined.sources = [...sources.values()].map(({ source }) => source);
  return inCleanText(joined);
}

/** From bytes of the text as received to characters of the clean text. */
function inCleanText(joined: JoinedReport): JoinedReport {
  const { report, citations, pictures } = joined;
  const bytes = [...citations.flatMap(({ start, end }) => [start, end]), ...pictures.map(({ offset }) => offset)];
  const indices = indicesOfBytes(report, bytes);
  const { text, positions } = cleanTextAt(report, [...indices.values()]);
  const at = (byte: number): number => positions.get(indices.get(byte) ?? 0) ?? 0;
  return {
    ...joined,
    report: text,
    citations: citations
      .map((citation) => ({ ...citation, start: at(citation.start), end: at(citation.end) }))
      // A range of nothing but invisible characters is gone.
      .filter(({ start, end }) => start < end),
    pictures: pictures.map((picture) => ({ ...picture, offset: at(picture.offset) })),
  };
}

/** Converts byte offsets to character indices in one pass. An offset inside a character moves after it. */
function indicesOfBytes(raw: string, wanted: readonly number[]): Map<number, number> {
  const indices = new Map<number, number>();
  let byte = 0;
  let index = 0;
  for (const offset of wanted.toSorted((a, b) => a - b)) {
    while (byte < offset && index < raw.length) {
      const code = raw.codePointAt(index) ?? 0;
      byte += code < 0x80 ? 1 : code < 0x8_00 ? 2 : code < 0x1_00_00 ? 3 : 4;
      index += code < 0x1_00_00 ? 1 : 2;
    }
    indices.set(offset, index);
  }
  return indices;
}

/** The index of the report's first step. Tool steps after the last text are ignored. */
function startOfReport(steps: InteractionStep[]): number {
  let start = steps.length;
  for (let index = steps.length - 1; index >= 0; index -= 1) {
    const step = steps[index];
    const type = step?.["type"];
    if (type === "user_input") break;
    if (type === "thought") continue;
    const isOutput = type === "model_output";
    if (!isOutput && start < steps.length) break;
    if (isOutput && records(step?.["content"]).some((part) => textOfPart(part) !== "")) start = index;
  }
  return start;
}

/** Replaces unpaired surrogates: joined with its other half, one would shift the byte offsets of all later citations. */
const textOfPart = (part: InteractionStep): string => readText(part["text"]).toWellFormed();

function readPicture(part: InteractionStep, offset: number): AgentPicture | undefined {
  if (part["type"] !== "image") return undefined;
  const data = readText(part["data"]);
  return data === "" ? undefined : { mimeType: readText(part["mime_type"]), data, offset };
}

/** Keyed by URL, because a report may have tens of thousands of citations. */
type Sources = Map<string, { source: VisitedSource; index: number }>;

/** Google counts UTF-8 bytes, not characters. A citation with an invalid range is dropped, but its source is kept. */
function readCitation(
  annotation: InteractionStep,
  { sources, offset, length }: { sources: Sources; offset: number; length: number },
): AgentCitation | undefined {
  const url = readText(annotation["url"]) || readText(annotation["document_uri"]) || readText(annotation["source"]);
  if (url === "") return undefined;
  const title = readText(annotation["title"]) || readText(annotation["name"]) || readText(annotation["file_name"]);
  const { index: sourceIndex } = sources.get(url) ?? { index: sources.size };
  if (sourceIndex === sources.size) sources.set(url, { source: { url, title }, index: sourceIndex });
  const start = annotation["start_index"] ?? 0;
  const end = annotation["end_index"];
  if (!isOffset(start) || !isOffset(end) || start >= end || end > length) return undefined;
  return { sourceIndex, start: offset + start, end: offset + end };
}

const isOffset = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;

const readText = (value: unknown): string => (typeof value === "string" ? value : "");

const records = (value: unknown): InteractionStep[] => (Array.isArray(value) ? value.filter(isRecord) : []);

/** String codes of the Interactions API, and the numeric google.rpc.Code and HTTP status that steps carry. */
const CODES: readonly (readonly [cause: FailureCause, codes: readonly string[]])[] = [
  ["credits", ["payment_required", "402"]],
  ["quota", ["too_many_requests", "rate_limit_exceeded", "quota_exceeded", "resource_exhausted", "quota", "8", "429"]],
  ["blocked", ["safety", "blocked", "content_blocked", "prohibited_content", "recitation"]],
  ["rejected", ["invalid_request", "invalid_argument", "bad_request", "failed_precondition", "parameter_unknown"]],
  ["rejected", ["3", "9", "400"]],
  ["access", ["permission_denied", "forbidden", "authentication", "unauthenticated", "7", "16", "401", "403"]],
  ["overloaded", ["unavailable", "service_unavailable", "overloaded", "14", "503"]],
  ["timeout", ["deadline_exceeded", "timeout", "4", "504"]],
];

/** Google's text is not passed on. Checks `interaction.errors[]` first, then the errors of its outputs, newest first. */
function failureCauseOf(raw: Record<string, unknown>, steps: readonly InteractionStep[]): FailureCause | undefined {
  const outputErrors = steps.filter(({ type }) => type === "model_output").map(({ error }) => error);
  const errors = [...records(raw["errors"]), raw["error"], ...outputErrors.toReversed()].filter(isRecord);
  if (errors.length === 0) return undefined;
  for (const { code } of errors) {
    const cause = causeOf(code);
    if (cause !== undefined) return cause;
  }
  return "internal";
}

/** A code may be a URL whose last segment is the name. */
function causeOf(code: unknown): FailureCause | undefined {
  if (typeof code !== "string" && typeof code !== "number") return undefined;
  const name = String(code).toLowerCase().replace(/^.*\//, "");
  return CODES.find(([, codes]) => codes.includes(name))?.[0];
}

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
