/** Entry point for spans and metrics; does nothing until a recorder is set. */

import { AppError } from "../errors.ts";
import type { CounterName, HistogramName } from "./instruments.ts";

export type Attributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

export interface SpanStart {
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

export interface TraceIds {
  trace_id: string;
  span_id: string;
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
