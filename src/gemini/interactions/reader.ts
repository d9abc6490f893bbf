/** Reads an interaction as Google sends it, in the schemas of today and yesterday, without trusting any of it. */

import { isRecord } from "../../platform/is-record.ts";
import type { AgentUsage, Interaction, InteractionStatus } from "../research-agent.ts";
import { failureCauseOf } from "../failure-cause.ts";
import { joinReport, records, type Step, text } from "./report.ts";

export function readInteraction(raw: unknown): Interaction | undefined {
  if (!isRecord(raw) || typeof raw["id"] !== "string" || raw["id"] === "") return undefined;
  const steps = stepsOf(raw);
  const rawStatus = text(raw["status"]);
  return {
    id: raw["id"],
    status: statusOf(rawStatus),
    rawStatus,
    ...joinReport(steps),
    usage: readUsage(raw["usage"]),
    thoughts: steps.flatMap(thoughtsIn),
    searches: steps.flatMap(searchesIn),
    searchSuggestions: suggestionsIn(steps),
    failureCause: failureCauseOf(raw, steps),
    raw: asReceived(raw),
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

export const statusOf = (rawStatus: string): InteractionStatus => STATUSES.get(rawStatus) ?? "unknown";

/** `steps` since May 2026; before that `outputs`, a flat list of contents. */
function stepsOf(raw: Record<string, unknown>): Step[] {
  const steps = records(raw["steps"]);
  if (steps.length > 0) return steps;
  return records(raw["outputs"]).map((output) =>
    output["type"] === "text" || output["type"] === "image" ? { type: "model_output", content: [output] } : output,
  );
}

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

const MAX_SUGGESTIONS = 64;
const MAX_SUGGESTION_CHARACTERS = 100_000;

/** `rendered_content` is what the field was called while interactions had `outputs`. */
function suggestionsIn(steps: Step[]): string[] {
  const all = steps
    .filter(({ type }) => type === "google_search_result")
    .flatMap(({ result }) => records(result))
    .map((result) => text(result["search_suggestions"]) || text(result["rendered_content"]))
    .filter((html) => html !== "" && html.length <= MAX_SUGGESTION_CHARACTERS);
  return [...new Set(all)].slice(0, MAX_SUGGESTIONS);
}

/** Undefined until Google reports it, and where it cannot be true: a wrong figure would be taken for the cost. */
export function readUsage(raw: unknown): AgentUsage | undefined {
  if (!isRecord(raw)) return undefined;
  // Pages that tools fetched are read by the model like any other input.
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

/** No interaction has as many tokens, and sums of such counts stay exact in every database. */
const MAX_COUNT = 1_000_000_000_000;

/** Undefined when one of them is no count of things. Parts of a token are rounded up: databases store integers. */
function sumOf(...counts: unknown[]): number | undefined {
  let sum = 0;
  for (const count of counts) {
    if (count === undefined || count === null) continue;
    if (typeof count !== "number" || !(count >= 0 && count <= MAX_COUNT)) return undefined;
    sum += Math.ceil(count);
  }
  return sum <= MAX_COUNT ? sum : undefined;
}

/** Without what the SDK adds: its view of the transport, and copies of what the steps hold. */
function asReceived(raw: Record<string, unknown>): Record<string, unknown> {
  const { sdkHttpResponse: _response, output_text: _text, output_image: _image, ...kept } = raw;
  return kept;
}
