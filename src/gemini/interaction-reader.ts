/** Reads an interaction as Google sends it, in the schemas of today and yesterday, without trusting any of it. */

import { isRecord } from "../platform/is-record.ts";
import type { AgentCitation, AgentSource, AgentUsage, Interaction, InteractionStatus } from "./agent.ts";

export function readInteraction(raw: unknown): Interaction | undefined {
  if (!isRecord(raw) || typeof raw["id"] !== "string" || raw["id"] === "") return undefined;
  const steps = stepsOf(raw);
  const { report, sources, citations, images } = readReport(steps);
  const rawStatus = text(raw["status"]);
  return {
    id: raw["id"],
    status: statusOf(rawStatus),
    rawStatus,
    report,
    sources,
    citations,
    images,
    usage: readUsage(raw["usage"]),
    thoughts: steps.flatMap(thoughtsIn),
    searches: steps.flatMap(searchesIn),
    raw: withoutHttp(raw),
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

/** A word we do not know is not an end: our own deadline is. */
export const statusOf = (rawStatus: string): InteractionStatus => STATUSES.get(rawStatus) ?? "working";

type Step = Record<string, unknown>;

/** `steps` since May 2026; before that `outputs`, a flat list of contents. */
function stepsOf(raw: Record<string, unknown>): Step[] {
  const steps = records(raw["steps"]);
  if (steps.length > 0) return steps;
  const outputs = records(raw["outputs"]);
  if (outputs.length === 0) return [];
  return outputs.some(({ type }) => type === "text" || type === "image")
    ? [{ type: "model_output", content: outputs.filter(({ type }) => type === "text" || type === "image") }, ...outputs]
    : outputs;
}

function readReport(steps: Step[]) {
  // Earlier model outputs are remarks on the way; the last one with text is the report.
  const outputs = steps.filter(({ type }) => type === "model_output").map(({ content }) => records(content));
  const contents = outputs.findLast((content) => content.some((part) => text(part["text"]) !== "")) ?? [];
  const sources: Sources = new Map();
  const citations: AgentCitation[] = [];
  let report = "";
  let offset = 0;
  let images = 0;
  for (const part of contents) {
    if (part["type"] === "image") images += 1;
    // Half a character has no bytes of its own; where it met its other half, every later place would be wrong.
    const own = text(part["text"]).toWellFormed();
    if (own === "") continue;
    const length = Buffer.byteLength(own);
    for (const annotation of records(part["annotations"])) {
      const citation = readCitation(annotation, { sources, offset, length });
      if (citation !== undefined) citations.push(citation);
    }
    report += own;
    offset += length;
  }
  return { report, sources: [...sources.values()].map(({ source }) => source), citations, images };
}

/** By address, because a report may cite tens of thousands of times. */
type Sources = Map<string, { source: AgentSource; index: number }>;

/** Google counts bytes of UTF-8, not characters. A range that does not fit is dropped, its source kept. */
function readCitation(
  annotation: Step,
  { sources, offset, length }: { sources: Sources; offset: number; length: number },
): AgentCitation | undefined {
  const url = text(annotation["url"]) || text(annotation["document_uri"]) || text(annotation["source"]);
  if (url === "") return undefined;
  const title = text(annotation["title"]) || text(annotation["file_name"]);
  const { index: sourceIndex } = sources.get(url) ?? { index: sources.size };
  if (sourceIndex === sources.size) sources.set(url, { source: { url, title }, index: sourceIndex });
  const start = annotation["start_index"] ?? 0;
  const end = annotation["end_index"];
  if (!isPlace(start) || !isPlace(end) || start >= end || end > length) return undefined;
  return { sourceIndex, startByte: offset + start, endByte: offset + end };
}

const isPlace = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;

function thoughtsIn(step: Step): string[] {
  if (step["type"] !== "thought") return [];
  const summary = step["summary"];
  if (typeof summary === "string") return [summary];
  return records(summary)
    .map((part) => text(part["text"]))
    .filter((thought) => thought !== "");
}

function searchesIn(step: Step): string[] {
  if (step["type"] !== "google_search_call") return [];
  const queries = isRecord(step["arguments"]) ? step["arguments"]["queries"] : undefined;
  const listed = Array.isArray(queries) ? queries.filter((query) => typeof query === "string") : [];
  return listed.length > 0 ? listed : [""];
}

export function readUsage(raw: unknown): AgentUsage | undefined {
  if (!isRecord(raw)) return undefined;
  const number = (name: string): number => countOf(raw[name]);
  const usage = {
    // Pages that tools fetched are read by the model like any other input.
    input: number("total_input_tokens") + number("total_tool_use_tokens"),
    output: number("total_output_tokens") + number("total_thought_tokens"),
    cached: number("total_cached_tokens"),
    searches: records(raw["grounding_tool_count"])
      .filter(({ type }) => type === "google_search")
      .reduce((sum, { count }) => sum + countOf(count), 0),
  };
  return usage.input + usage.output === 0 ? undefined : usage;
}

/** Costs are counted with it: what is no number of things is none. */
const countOf = (value: unknown): number =>
  typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : 0;

function withoutHttp(raw: Record<string, unknown>): Record<string, unknown> {
  const { sdkHttpResponse: _response, ...kept } = raw;
  return kept;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const records = (value: unknown): Step[] => (Array.isArray(value) ? value.filter(isRecord) : []);
