/** What the rest of the program says about its own work. While nobody listens, saying it costs a comparison. */

import { AppError } from "../errors.ts";
import type { CounterName, HistogramName } from "./instruments.ts";

export type Attributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

export interface SpanStart {
  name: string;
  kind?: "server" | "client";
  attributes?: Attributes;
  /** The W3C `traceparent` that came with the request; one that is not valid is no parent. */
  parent?: string | undefined;
}

/** Never told what was asked or answered, and no sentence of anybody: words of ours, numbers and ids only. */
export interface Span {
  set(attributes: Attributes): void;
  /** Why it went wrong, as one word. */
  fail(errorType: string): void;
}

/** Where a span stands among others. */
export interface TraceIds {
  trace_id: string;
  span_id: string;
}

export interface Recorder {
  inSpan<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
  /** What `work` does belongs to this run; apart: not to whatever happened to be going on when it began. */
  inRun<T>(taskId: string | undefined, options: { apart: boolean }, work: () => T): T;
  add(name: CounterName, value: number, attributes: Attributes): void;
  measure(name: HistogramName, value: number, attributes: Attributes): void;
  traceIds(): TraceIds | undefined;
}

/** One per process, like the log: a span must not be a parameter of every function between two that have one. */
let recorder: Recorder | undefined;

export function listenWith(next: Recorder | undefined): void {
  recorder = next;
}

export const isRecording = (): boolean => recorder !== undefined;

const UNHEARD: Span = { set: () => {}, fail: () => {} };

export const inSpan = <T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T> =>
  recorder === undefined ? work(UNHEARD) : recorder.inSpan(start, work);

export const inRun = <T>(taskId: string, work: () => T): T =>
  recorder === undefined ? work() : recorder.inRun(taskId, { apart: false }, work);

/** Work that goes on after the call in which it began; a trace of its own, found by its run. */
export const apart = <T>(taskId: string | undefined, work: () => T): T =>
  recorder === undefined ? work() : recorder.inRun(taskId, { apart: true }, work);

export const add = (name: CounterName, value: number, attributes: Attributes = {}): void =>
  recorder?.add(name, value, attributes);

export const measure = (name: HistogramName, value: number, attributes: Attributes = {}): void =>
  recorder?.measure(name, value, attributes);

export const traceIds = (): TraceIds | undefined => recorder?.traceIds();

/** Our own code for it, or the class of a fault: never its message, which may quote anything. */
export const errorTypeOf = (error: unknown): string =>
  error instanceof AppError ? error.code : error instanceof Error ? error.name : "Error";

export const RUN_ID = "gemini_search.run.id";
