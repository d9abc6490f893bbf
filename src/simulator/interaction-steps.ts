/** The steps of an interaction: what it thought, searched and read, and what it wrote in the end. */

import { reportFor, type ReportContent } from "./interaction-report.ts";
import type { Run } from "./interaction-runs.ts";
import type { Life } from "./interaction-scenario.ts";
import { scriptOf, type Beat } from "./interaction-script.ts";
import { suggestionsFor } from "./search-suggestions.ts";
import { searchWeb } from "./web.ts";

interface Thought {
  type: "thought";
  summary: [{ type: "text"; text: string }];
  signature: string;
}

interface ToolCall {
  type: "google_search_call" | "url_context_call";
  id: string;
  search_type?: "web_search";
  arguments: { queries?: string[]; urls?: string[] };
}

interface ToolResult {
  type: "google_search_result" | "url_context_result";
  call_id: string;
  result: Record<string, string>[];
  is_error: boolean;
}

export interface ModelOutput {
  type: "model_output";
  content?: ReportContent[];
  error?: { code: number; message: string };
}

export type Step = Thought | ToolCall | ToolResult | ModelOutput;

export interface TimedStep {
  /** Virtual milliseconds since the start. */
  at: number;
  step: Step;
}

export interface End {
  at: number;
  status: string;
}

const TEXT_BY_STATUS: Record<string, "half" | "none"> = {
  incomplete: "half",
  budget_exceeded: "half",
  failed: "none",
  cancelled: "none",
  requires_action: "none",
};

const FAILURE = [{ code: "internal", message: "The research could not be completed because of an internal error." }];

/** Google's number for an internal error. */
const INTERNAL = 13;

export const errorsOf = ({ errors }: Life): { code: string; message: string }[] => errors ?? FAILURE;

/** Signatures are opaque; only that there is one matters. */
const signatureOf = (text: string): string => Buffer.from(`simulated ${text.length}`).toString("base64");

function searchSteps(id: string, queries: string[]): Step[] {
  const result = [{ search_suggestions: suggestionsFor(queries) }];
  return [
    { type: "google_search_call", id, search_type: "web_search", arguments: { queries } },
    { type: "google_search_result", call_id: id, result, is_error: false },
  ];
}

function pageSteps(id: string, query: string): Step[] {
  const urls = searchWeb(query).map((page) => page.url);
  const result = urls.map((url, place) => ({ url, status: place === 1 ? "paywall" : "success" }));
  return [
    { type: "url_context_call", id, arguments: { urls } },
    { type: "url_context_result", call_id: id, result, is_error: false },
  ];
}

function stepsOfBeat(beat: Beat, index: number): Step[] {
  const id = `call_${index + 1}`;
  if (beat.kind === "search") return searchSteps(id, beat.queries);
  if (beat.kind === "pages") return pageSteps(id, beat.query);
  return [{ type: "thought", summary: [{ type: "text", text: beat.text }], signature: signatureOf(beat.text) }];
}

/** What can be seen of the work before the report; a client that did not ask for it sees nothing. */
export function researchSteps({ start, life, thinks }: Run, until = Infinity): TimedStep[] {
  if (!thinks || life.steps === "output") return [];
  return scriptOf(start).beats.flatMap((beat, index) => {
    const at = beat.at * life.duration_ms;
    return at <= until ? stepsOfBeat(beat, index).map((step) => ({ at, step })) : [];
  });
}

function reportOf({ start, life }: Run, status: string): ReportContent[] {
  // A cancel leaves no report, whatever the scenario wanted to write.
  const length = status === life.status ? (life.text ?? TEXT_BY_STATUS[status] ?? "whole") : "none";
  return length === "none" ? [] : reportFor(start, { length, text: life.report, image: life.image });
}

export function outputStep(run: Run, { status }: End): ModelOutput | undefined {
  const content = reportOf(run, status);
  if (status === "failed") {
    const message = errorsOf(run.life)[0]?.message ?? "";
    return { type: "model_output", ...(content.length > 0 && { content }), error: { code: INTERNAL, message } };
  }
  // `completed` without text still has its step.
  return content.length > 0 || status === "completed" ? { type: "model_output", content } : undefined;
}

/** How much was written. */
export function textLength(output: ModelOutput | undefined): number {
  return (output?.content ?? []).reduce((sum, one) => sum + (one.type === "text" ? one.text.length : 0), 0);
}
