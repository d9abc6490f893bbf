/** Starts the OpenTelemetry SDK, an optional dependency: exports to a collector and metrics in Prometheus format. */

import { diag, DiagLogLevel, type DiagLogger } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { resourceFromAttributes } from "@opentelemetry/resources";
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
  /** In Prometheus text format; undefined unless METRICS_ENABLED is set. */
  metricsText: (() => Promise<string>) | undefined;
  close(): Promise<void>;
}

/** A collector that does not respond costs at most this many spans in memory, and this much time. */
const EXPORT_TIMEOUT_MS = 5_000;
const MAX_QUEUED_SPANS = 2_048;

export function startSdk({ name, version, settings, runGauges, onFault }: SdkOptions): Sdk {
  diag.setLogger(errorLogger(onFault), { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
  const { traces, metrics, headers } = settings;
  const resource = resourceFromAttributes({
    "service.version": version,
    ...settings.resourceAttributes,
    "service.name": settings.serviceName ?? settings.resourceAttributes["service.name"] ?? name,
    "service.instance.id": crypto.randomUUID(),
  });
  const exportOptions = { headers, timeoutMillis: EXPORT_TIMEOUT_MS };
  const tracerProvider = new TracerProvider({
    resource,
    sampler: traces === undefined ? new AlwaysOffSampler() : samplerOf(settings.sampler),
    spanProcessors:
      traces === undefined
        ? []
        : [
            new BatchSpanProcessor({
              exporter: new OTLPTraceExporter({ url: traces, ...exportOptions }),
              maxQueueSize: MAX_QUEUED_SPANS,
              exportTimeoutMillis: EXPORT_TIMEOUT_MS,
            }),
          ],
  });
  const scraped = settings.prometheus ? new PrometheusExporter({ preventServerStart: true }) : undefined;
  const pushed =
    metrics === undefined
      ? undefined
      : new PeriodicExportingMetricReader({
          exporter: new OTLPMetricExporter({ url: metrics, ...exportOptions }),
          exportIntervalMillis: settings.metricIntervalMs,
          exportTimeoutMillis: Math.min(EXPORT_TIMEOUT_MS, settings.metricIntervalMs),
        });
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

const ratio = (argument: number | undefined): Sampler => new TraceIdRatioBasedSampler(argument ?? 1);

const SAMPLERS: Record<TelemetrySettings["sampler"]["name"], (argument: number | undefined) => Sampler> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: ratio,
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (argument) => new ParentBasedSampler({ root: ratio(argument) }),
};

const samplerOf = ({ name, argument }: TelemetrySettings["sampler"]): Sampler => SAMPLERS[name](argument);

/** The SDK's messages may quote a URL with a password, so only the fact of an error is reported. */
function errorLogger(onFault: () => void): DiagLogger {
  const ignore = (): void => {};
  return { error: onFault, warn: ignore, info: ignore, debug: ignore, verbose: ignore };
}
