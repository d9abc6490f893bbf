/**
 * Entry point for spans and metrics, which do nothing until a recorder is set, and the definition of every metric. No label
 * contains a run, an owner or a question.
 */

import { AppError } from "../errors.ts";

export type Attributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

interface SpanStart {
  name: string;
  kind?: "server" | "client";
  attributes?: Attributes;
  /** The W3C `traceparent` of the request; ignored if invalid. */
  parent?: string | undefined;
}

/** Attributes hold our own terms, numbers and ids only, never questions, answers or error messages. */
export interface Span {
  set(attributes: Attributes): void;
  /** `errorType` is a code, not a sentence. */
  fail(errorType: string): void;
}

interface TraceIds {
  trace_id: string;
  span_id: string;
}

/** What OpenTelemetry's own variables ask for. */
export interface TelemetrySettings {
  traces: boolean;
  /** Pushed to a collector. */
  metrics: boolean;
  /** Served at `/metrics`. */
  prometheus: boolean;
  sampler: string;
  /** 0 to 1: the fraction of traces that a sampler with a ratio keeps. */
  samplerRatio: number;
  metricIntervalMs: number;
}

/** Figures from the store, read at each metrics collection. */
export interface RunGauges {
  runs: { status: string; kind: string; count: number }[];
  due: number;
  /** Due for longer than a poll may take. */
  late: number;
  oldestDueAgeMs: number;
  workers: { responding: number; silent: number };
}

export interface Recorder {
  inSpan<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
  /** Attributes the work to this run. `isDetached` starts a new trace instead of continuing the current one. */
  inRun<T>(taskId: string | undefined, options: { isDetached: boolean }, work: () => T): T;
  add(name: CounterName, value: number, attributes: Attributes): void;
  measure(name: HistogramName, value: number, attributes: Attributes): void;
  traceIds(): TraceIds | undefined;
}

/** One per process, like the log, so that spans need not be passed through every function. */
let recorder: Recorder | undefined;

export function setRecorder(next: Recorder | undefined): void {
  recorder = next;
}

export const isRecording = (): boolean => recorder !== undefined;

const NOOP_SPAN: Span = { set: () => {}, fail: () => {} };

export const inSpan = <T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T> =>
  recorder === undefined ? work(NOOP_SPAN) : recorder.inSpan(start, work);

export const inRun = <T>(taskId: string, work: () => T): T =>
  recorder === undefined ? work() : recorder.inRun(taskId, { isDetached: false }, work);

/** For work that continues after the call that started it: a new trace, found by its run. */
export const inDetachedTrace = <T>(taskId: string | undefined, work: () => T): T =>
  recorder === undefined ? work() : recorder.inRun(taskId, { isDetached: true }, work);

export const add = (name: CounterName, value: number, attributes: Attributes = {}): void =>
  recorder?.add(name, value, attributes);

export const measure = (name: HistogramName, value: number, attributes: Attributes = {}): void =>
  recorder?.measure(name, value, attributes);

export const traceIds = (): TraceIds | undefined => recorder?.traceIds();

/** Our own error code or the error's class, never its message, which may quote anything. */
export const errorTypeOf = (error: unknown): string =>
  error instanceof AppError ? error.code : error instanceof Error ? error.name : "Error";

export const RUN_ID = "gemini_search.run.id";

interface Instrument {
  unit: string;
  description: string;
}

/** Buckets of the OpenTelemetry GenAI and MCP conventions, plus longer ones: research takes up to hours. */
const SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 300, 900, 1_800, 3_600,
  10_800,
];
const TOKENS = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

export const HISTOGRAMS = {
  "gen_ai.client.token.usage": { unit: "{token}", description: "Tokens used by model calls.", buckets: TOKENS },
  "gen_ai.client.operation.duration": {
    unit: "s",
    description: "Duration of model calls; for the Deep Research agent, of whole runs.",
    buckets: SECONDS,
  },
  "mcp.server.operation.duration": { unit: "s", description: "Duration of MCP tool calls.", buckets: SECONDS },
  "http.server.request.duration": {
    unit: "s",
    description: "Duration of HTTP requests until the response started.",
    buckets: SECONDS,
  },
} satisfies Record<string, Instrument & { buckets: number[] }>;
type HistogramName = keyof typeof HISTOGRAMS;

export const COUNTERS = {
  "gemini_search.research.starts": { unit: "{start}", description: "Paid starts of Deep Research, by outcome." },
  "gemini_search.cost": { unit: "USD", description: "Cost of finished model calls and runs at list prices." },
  "gemini_search.upstream.requests": { unit: "{request}", description: "HTTP requests to Google, by outcome." },
  "gemini_search.polls": { unit: "{poll}", description: "Polls of runs by this process, by outcome." },
  /** Can decrease. */
  "gemini_search.streams": { unit: "{stream}", description: "Open streams, to clients and from Google." },
} satisfies Record<string, Instrument>;
type CounterName = keyof typeof COUNTERS;

export const UP_AND_DOWN: readonly CounterName[] = ["gemini_search.streams"];

export const GAUGES = {
  "gemini_search.runs": { unit: "{run}", description: "Stored runs, by state and kind." },
  "gemini_search.queue.due": { unit: "{run}", description: "Runs in progress that are due to be polled." },
  "gemini_search.queue.late": { unit: "{run}", description: "Runs that have been due for more than a minute." },
  "gemini_search.queue.oldest_due_age": { unit: "s", description: "Time since the oldest due run became due." },
  "gemini_search.workers": { unit: "{process}", description: "Processes that poll runs, responding or silent." },
  "process.memory.usage": { unit: "By", description: "Resident memory of the process." },
  "nodejs.eventloop.delay.p99": { unit: "s", description: "Event loop delay since the last collection, p99." },
  "nodejs.eventloop.delay.max": { unit: "s", description: "Event loop delay since the last collection, maximum." },
} satisfies Record<string, Instrument>;
export type GaugeName = keyof typeof GAUGES;

const MODEL = /^(?:gemini|deep-research)[\w.-]{0,60}$/;

/** Model names come from users and from Google; only names that look like Google's become a label. */
export const modelLabel = (model: string | undefined): string =>
  model !== undefined && MODEL.test(model) ? model : "other";
