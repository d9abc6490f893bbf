/** The steps of an interaction: thoughts, searches, pages and outputs. */

import { reportFor, type ReportContent } from "./report.ts";
import { isPlanning, topicOf, type Run } from "./runs.ts";
import type { Life } from "./scenario.ts";
import { planFor, RESEARCH_SHARE, scriptOf, summariesOf, type Activity } from "./script.ts";
import { structuredAnswer } from "./input/response-format.ts";
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
  /** Time of its first event, if its events are spread over time. */
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

/** google.rpc.Code of an internal error. */
const INTERNAL = 13;

export const errorsOf = ({ errors }: Life): { code: string; message: string }[] => errors ?? FAILURE;

/** Signatures are opaque; only their presence matters. */
export const signatureOf = (text: string): string => Buffer.from(`simulated ${text.length}`).toString("base64");

function searchSteps(id: string, queries: string[]): Step[] {
  const result = [{ search_suggestions: suggestionsFor(queries) }];
  return [
    { type: "google_search_call", id, search_type: "web_search", arguments: { queries } },
    { type: "google_search_result", call_id: id, result, is_error: false },
  ];
}

function pageSteps(id: string, query: string): Step[] {
  const urls = searchWeb(query).map((page) => page.url);
  const result = urls.map((url, index) => ({ url, status: index === 1 ? "paywall" : "success" }));
  return [
    { type: "url_context_call", id, arguments: { urls } },
    { type: "url_context_result", call_id: id, result, is_error: false },
  ];
}

function stepsOfActivity(activity: Activity, index: number): Step[] {
  const id = `call_${index + 1}`;
  if (activity.kind === "search") return searchSteps(id, activity.queries);
  if (activity.kind === "pages") return pageSteps(id, activity.query);
  return [thoughtStep([activity.text])];
}

const thoughtStep = (texts: string[]): Thought => ({
  type: "thought",
  summary: texts.map((text) => ({ type: "text", text })),
  signature: signatureOf(texts.join("")),
});

/** Thoughts and searches are shown only if requested. */
const showsWork = ({ life, thinks }: Run): boolean => thinks && (life.steps === "all" || life.steps === "thought");

/** The visible steps before the report. */
export function researchSteps(run: Run, until = Infinity): TimedStep[] {
  if (!showsWork(run) || isPlanning(run) || run.offline === true) return [];
  const { life } = run;
  const topic = topicOf(run);
  if (life.steps === "thought") {
    const at = RESEARCH_SHARE * life.duration_ms;
    return at <= until ? [{ from: 0, at, step: thoughtStep(summariesOf(topic)) }] : [];
  }
  return scriptOf(topic, life).activities.flatMap((activity, index) => {
    const at = activity.at * life.duration_ms;
    return at <= until ? stepsOfActivity(activity, index).map((step) => ({ at, step })) : [];
  });
}

const PICTURE = /\b(?:charts?|diagrams?|graphics|graphs?|infographics?|plots?|visuali[sz]\w*)\b/i;

/** The agent draws only what the question, or a change of its plan, asks for. */
const asksForPicture = ({ start: { query, plan } }: Run): boolean =>
  [query, plan?.topic ?? "", ...(plan?.changes ?? [])].some((text) => PICTURE.test(text));

function reportOf(run: Run, status: string): ReportContent[][] {
  const { life } = run;
  const { plan } = run.start;
  if (plan?.isApproved === false && status === "completed" && life.text !== "none") {
    return [[{ type: "text", text: planFor(plan.topic, plan.changes) }]];
  }
  // A cancelled run has no report, whatever the scenario defines.
  const isTextless = status !== life.status || life.steps === "none";
  const length = isTextless ? "none" : (life.text ?? TEXT_BY_STATUS[status] ?? "whole");
  if (run.schema !== undefined && life.report === undefined && length === "whole") {
    return [[{ type: "text", text: structuredAnswer(run.schema, run.start.query) }]];
  }
  const { report: text, images, image_bytes: imageBytes, text_bytes: textBytes, parts, annotations } = life;
  const image = run.draws && (life.image ?? asksForPicture(run));
  const course = { sources: life.sources, course: life.course, english: life.english };
  return length === "none"
    ? []
    : reportFor(topicOf(run), { length, text, image, images, imageBytes, textBytes, parts, annotations, ...course });
}

const BETWEEN = "\n\n**Structuring the report**\n\nThe summary stands; I turn to the sections.";

/** The outputs of the report, with thoughts between them if thoughts are shown. */
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
  // A completed run without text still has an output step.
  return steps.length > 0 || status !== "completed" ? steps : [{ type: "model_output", content: [] }];
}

/** Length of all texts in the outputs. */
export function textLength(steps: readonly Step[]): number {
  return steps
    .flatMap((step) => (step.type === "model_output" ? (step.content ?? []) : []))
    .reduce((sum, content) => sum + (content.type === "text" ? content.text.length : 0), 0);
}
