/** Records spans and metrics through the OpenTelemetry API. */

import { AsyncLocalStorage } from "node:async_hooks";
import { monitorEventLoopDelay } from "node:perf_hooks";
import {
  type Context,
  type Meter,
  type ObservableGauge,
  ROOT_CONTEXT,
  type Span as ApiSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import {
  type Attributes,
  COUNTERS,
  errorTypeOf,
  type GaugeName,
  GAUGES,
  HISTOGRAMS,
  type Recorder,
  RUN_ID,
  type Span,
  UP_AND_DOWN,
} from "./telemetry.ts";

/** Figures from the store, read at each metrics collection. */
export interface RunGauges {
  runs: { status: string; kind: string; count: number }[];
  due: number;
  /** Due for longer than a poll may take. */
  late: number;
  oldestDueAgeMs: number;
  workers: { responding: number; silent: number };
}

export interface RecorderOptions {
  tracer: Tracer;
  meter: Meter;
  /** Returns undefined while the store is not open. */
  runGauges: () => Promise<RunGauges | undefined>;
}

interface Scope {
  context: Context;
  taskId: string | undefined;
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT };

export function createRecorder({ tracer, meter, runGauges }: RecorderOptions): Recorder {
  const scopes = new AsyncLocalStorage<Scope>();
  const { add, measure } = instrumentsOf(meter);
  observe(meter, runGauges);
  const current = (): ApiSpan | undefined => trace.getSpan(scopes.getStore()?.context ?? ROOT_CONTEXT);
  return {
    inSpan: async ({ name, kind, attributes = {}, parent }, work) => {
      const scope = scopes.getStore();
      const { context, links } = parentContext(scope?.context ?? ROOT_CONTEXT, parent);
      const span = tracer.startSpan(
        name,
        {
          kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind],
          attributes: { ...attributes, ...(scope?.taskId === undefined ? {} : { [RUN_ID]: scope.taskId }) },
          links,
        },
        context,
      );
      const inside: Scope = { context: trace.setSpan(context, span), taskId: scope?.taskId };
      try {
        return await scopes.run(inside, () => work(spanOf(span)));
      } catch (error) {
        spanOf(span).fail(errorTypeOf(error));
        throw error;
      } finally {
        span.end();
      }
    },
    inRun: (taskId, { isDetached }, work) => {
      if (!isDetached && taskId !== undefined) current()?.setAttribute(RUN_ID, taskId);
      const context = isDetached ? ROOT_CONTEXT : (scopes.getStore()?.context ?? ROOT_CONTEXT);
      return scopes.run({ context, taskId }, work);
    },
    add,
    measure,
    traceIds: () => {
      const span = current()?.spanContext();
      return span === undefined ? undefined : { trace_id: span.traceId, span_id: span.spanId };
    },
  };
}

function spanOf(span: ApiSpan): Span {
  return {
    set: (attributes) => void span.setAttributes(attributes),
    fail: (errorType) => void span.setAttribute("error.type", errorType).setStatus({ code: SpanStatusCode.ERROR }),
  };
}

/**
 * Uses the caller's span as the parent if the request has one, and links to the current span if that is in another
 * trace.
 */
function parentContext(here: Context, traceparent: string | undefined) {
  const remote = traceparent === undefined ? undefined : parseTraceparent(traceparent);
  if (remote === undefined) return { context: here, links: [] };
  const local = trace.getSpan(here)?.spanContext();
  if (local?.traceId === remote.traceId) return { context: here, links: [] };
  return {
    context: trace.setSpanContext(here, remote),
    links: local === undefined ? [] : [{ context: local }],
  };
}

/** https://www.w3.org/TR/trace-context/#traceparent-header: later versions may append fields. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?$/;

export function parseTraceparent(header: string): SpanContext | undefined {
  const [, version, traceId, spanId, flags] = TRACEPARENT.exec(header.trim()) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === "00" && header.trim().length > 55) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

function instrumentsOf(meter: Meter): Pick<Recorder, "add" | "measure"> {
  const counters = new Map<string, { add(value: number, attributes: Attributes): void }>();
  for (const [name, options] of Object.entries(COUNTERS)) {
    const goesDown = UP_AND_DOWN.some((other) => other === name);
    counters.set(name, goesDown ? meter.createUpDownCounter(name, options) : meter.createCounter(name, options));
  }
  const histograms = new Map<string, { record(value: number, attributes: Attributes): void }>();
  for (const [name, { unit, description, buckets }] of Object.entries(HISTOGRAMS)) {
    const advice = { explicitBucketBoundaries: buckets };
    histograms.set(name, meter.createHistogram(name, { unit, description, advice }));
  }
  return {
    add: (name, value, attributes) => counters.get(name)?.add(value, attributes),
    measure: (name, value, attributes) => histograms.get(name)?.record(value, attributes),
  };
}

const NANOSECONDS = 1e9;
const LOOP_RESOLUTION_MS = 20;

function observe(meter: Meter, runGauges: RecorderOptions["runGauges"]): void {
  const gauges = new Map<string, ObservableGauge>(
    Object.entries(GAUGES).map(([name, options]) => [name, meter.createObservableGauge(name, options)]),
  );
  const delay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  delay.enable();
  meter.addBatchObservableCallback(
    async (result) => {
      const report = (name: GaugeName, value: number, attributes: Attributes = {}): void => {
        const gauge = gauges.get(name);
        if (gauge !== undefined) result.observe(gauge, value, attributes);
      };
      report("process.memory.usage", process.memoryUsage.rss());
      if (delay.count > 0) {
        report("nodejs.eventloop.delay.p99", delay.percentile(99) / NANOSECONDS);
        report("nodejs.eventloop.delay.max", delay.max / NANOSECONDS);
        delay.reset();
      }
      // A busy or closed database must not prevent the export of the other metrics.
      const stored = await runGauges().catch(() => undefined);
      if (stored === undefined) return;
      for (const { status, kind, count } of stored.runs) report("gemini_search.runs", count, { state: status, kind });
      report("gemini_search.queue.due", stored.due);
      report("gemini_search.queue.late", stored.late);
      for (const [state, count] of Object.entries(stored.workers)) report("gemini_search.workers", count, { state });
      report("gemini_search.queue.oldest_due_age", stored.oldestDueAgeMs / 1_000);
    },
    [...gauges.values()],
  );
}
