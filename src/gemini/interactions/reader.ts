/** Parses an interaction as Google sends it, in the current and the older schema, without trusting any field. */

import { isRecord } from "../../platform/is-record.ts";
import type { AgentUsage, Interaction, InteractionStatus } from "../research-agent.ts";
import { failureCauseOf } from "../failure-cause.ts";
import { joinReport, records, type InteractionStep, readText } from "./report.ts";

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

const MAX_SUGGESTIONS = 64;
const MAX_SUGGESTION_CHARACTERS = 100_000;

/** In the older schema the field was called `rendered_content`. */
function suggestionsIn(steps: InteractionStep[]): string[] {
  const all = steps
    .filter(({ type }) => type === "google_search_result")
    .flatMap(({ result }) => records(result))
    .map((result) => readText(result["search_suggestions"]) || readText(result["rendered_content"]))
    .filter((html) => html !== "" && html.length <= MAX_SUGGESTION_CHARACTERS);
  return [...new Set(all)].slice(0, MAX_SUGGESTIONS);
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
