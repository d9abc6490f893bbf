/** Starts the OpenTelemetry SDK, an optional dependency: exports to a collector and metrics in Prometheus format. */

import { diag, DiagLogLevel, type DiagLogger } from "@opentelemetry/api";
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
import { createRecorder, type RunGauges } from "./recorder.ts";
import type { TelemetrySettings } from "./settings.ts";
import type { Recorder } from "./telemetry.ts";

export interface SdkOptions {
  name: string;
  version: string;
  settings: TelemetrySettings;
  runGauges: () => Promise<RunGauges | undefined>;
  /** Called on every failed export. */
  onFault: () => void;
}

export interface Sdk {
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
