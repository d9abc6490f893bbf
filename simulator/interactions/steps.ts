/** The steps of an interaction: what it thought, searched and read, and what it wrote in the end. */

import { reportFor, type ReportContent } from "./report.ts";
import type { Run } from "./runs.ts";
import type { Life } from "./scenario.ts";
import { RESEARCH_SHARE, scriptOf, summariesOf, type Beat } from "./script.ts";
import { suggestionsFor } from "../models/search-suggestions.ts";
import { searchWeb } from "../web.ts";

interface Thought {
  type: "thought";
  summary: { type: "text"; text: string }[];
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

interface ModelOutput {
  type: "model_output";
  content?: ReportContent[];
  error?: { code: number; message: string };
}

export type Step = Thought | ToolCall | ToolResult | ModelOutput;

export interface TimedStep {
  /** Virtual milliseconds since the start. */
  at: number;
  /** When its first event is sent, where its events are spread over time. */
  from?: number;
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
  return [thoughtStep([beat.text])];
}

const thoughtStep = (texts: string[]): Thought => ({
  type: "thought",
  summary: texts.map((text) => ({ type: "text", text })),
  signature: signatureOf(texts.join("")),
});

/** A client that did not ask for it sees nothing of the work. */
const showsWork = ({ life, thinks }: Run): boolean => thinks && life.steps !== "output";

/** What can be seen of the work before the report. */
export function researchSteps(run: Run, until = Infinity): TimedStep[] {
  if (!showsWork(run)) return [];
  const { start, life } = run;
  if (life.steps === "thought") {
    const at = RESEARCH_SHARE * life.duration_ms;
    return at <= until ? [{ from: 0, at, step: thoughtStep(summariesOf(start)) }] : [];
  }
  return scriptOf(start).beats.flatMap((beat, index) => {
    const at = beat.at * life.duration_ms;
    return at <= until ? stepsOfBeat(beat, index).map((step) => ({ at, step })) : [];
  });
}

function reportOf({ start, life }: Run, status: string): ReportContent[][] {
  // A cancel leaves no report, whatever the scenario wanted to write.
  const length = status === life.status ? (life.text ?? TEXT_BY_STATUS[status] ?? "whole") : "none";
  const { report: text, image, image_bytes: imageBytes, text_bytes: textBytes, parts, annotations } = life;
  return length === "none" ? [] : reportFor(start, { length, text, image, imageBytes, textBytes, parts, annotations });
}

const BETWEEN = "\n\n**Structuring the report**\n\nThe summary stands; I turn to the sections.";

/** What is written at the end: its outputs, with a thought between them where thoughts are shown. */
export function outputSteps(run: Run, { status }: End): Step[] {
  const contents = reportOf(run, status);
  const outputs = contents.map((content): ModelOutput => ({ type: "model_output", content }));
  const last = outputs.pop();
  const steps = [
    ...outputs.flatMap((output): Step[] => (showsWork(run) ? [output, thoughtStep([BETWEEN])] : [output])),
    ...(last === undefined ? [] : [last]),
  ];
  if (status === "failed") {
    const message = errorsOf(run.life)[0]?.message ?? "";
    return [...steps.slice(0, -1), { type: "model_output", ...last, error: { code: INTERNAL, message } }];
  }
  // `completed` without text still has its step.
  return steps.length > 0 || status !== "completed" ? steps : [{ type: "model_output", content: [] }];
}

/** How much was written. */
export function textLength(steps: readonly Step[]): number {
  return steps
    .flatMap((step) => (step.type === "model_output" ? (step.content ?? []) : []))
    .reduce((sum, one) => sum + (one.type === "text" ? one.text.length : 0), 0);
}
