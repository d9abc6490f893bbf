/** Records spans and metrics through the OpenTelemetry API, and exports them with its SDK. */

import { AsyncLocalStorage } from "node:async_hooks";
import { monitorEventLoopDelay } from "node:perf_hooks";
import {
  type Context,
  diag,
  type DiagLogger,
  DiagLogLevel,
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
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import {
  type Attributes,
  COUNTERS,
  errorTypeOf,
  type GaugeName,
  GAUGES,
  HISTOGRAMS,
  type Recorder,
  RUN_ID,
  type RunGauges,
  type Span,
  type TelemetrySettings,
  UP_AND_DOWN,
} from "./telemetry.ts";

interface SdkOptions {
  name: string;
  version: string;
  settings: TelemetrySettings;
  runGauges: () => Promise<RunGauges | undefined>;
  /** Called on every failed export. */
  onFault: () => void;
}

interface Sdk {
  recorder: Recorder;
  /** In Prometheus text format; undefined unless OTEL_METRICS_EXPORTER names `prometheus`. */
  metricsText: (() => Promise<string>) | undefined;
  close(): Promise<void>;
}

/** A collector that does not respond costs at most this many spans in memory, and this much time. */
const EXPORT_TIMEOUT_MS = 5_000;
const MAX_QUEUED_SPANS = 2_048;

export function startSdk({ name, version, settings, runGauges, onFault }: SdkOptions): Sdk {
  diag.setLogger(errorLogger(onFault), { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
  const { traces, metrics } = settings;
  const resource = resourceFromAttributes({ "service.name": name, "service.version": version })
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(resourceFromAttributes({ "service.instance.id": crypto.randomUUID() }));
  const exportOptions = { timeoutMillis: EXPORT_TIMEOUT_MS };
  const tracerProvider = new TracerProvider({
    resource,
    sampler: traces ? samplerOf(settings) : new AlwaysOffSampler(),
    spanProcessors: traces
      ? [
          new BatchSpanProcessor({
            exporter: new OTLPTraceExporter(exportOptions),
            maxQueueSize: MAX_QUEUED_SPANS,
            exportTimeoutMillis: EXPORT_TIMEOUT_MS,
          }),
        ]
      : [],
  });
  const scraped = settings.prometheus ? new PrometheusExporter({ preventServerStart: true }) : undefined;
  const pushed = metrics
    ? new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter(exportOptions),
        exportIntervalMillis: settings.metricIntervalMs,
        exportTimeoutMillis: Math.min(EXPORT_TIMEOUT_MS, settings.metricIntervalMs),
      })
    : undefined;
  const readers = [scraped, pushed].filter((reader) => reader !== undefined);
  const meterProvider = new MeterProvider({ resource, readers });
  return {
    recorder: createRecorder({
      tracer: tracerProvider.getTracer(name, version),
      meter: meterProvider.getMeter(name, version),
      runGauges,
    }),
    metricsText: scraped && (() => textOf(scraped)),
    // In parallel: both must fit into the time left at shutdown.
    close: async () => {
      await Promise.allSettled([tracerProvider.shutdown(), meterProvider.shutdown()]);
    },
  };
}

async function textOf(reader: PrometheusExporter): Promise<string> {
  const { resourceMetrics } = await reader.collect();
  // Without scope and resource labels, which are the same on every line.
  return new PrometheusSerializer(undefined, false, undefined, false, true).serialize(resourceMetrics);
}

/** As the specification defines its variable; the default is `parentbased_always_on`. */
function samplerOf({ sampler, samplerRatio }: TelemetrySettings): Sampler {
  const roots: Record<string, Sampler> = {
    always_off: new AlwaysOffSampler(),
    traceidratio: new TraceIdRatioBasedSampler(samplerRatio),
  };
  const root = roots[sampler.replace(/^parentbased_/, "")] ?? new AlwaysOnSampler();
  return sampler === "" || sampler.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}

/** The SDK's messages may quote a URL with a password, so only the fact of an error is reported. */
function errorLogger(onFault: () => void): DiagLogger {
  const ignore = (): void => {};
  return { error: onFault, warn: ignore, info: ignore, debug: ignore, verbose: ignore };
}

interface RecorderOptions {
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

function createRecorder({ tracer, meter, runGauges }: RecorderOptions): Recorder {
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
