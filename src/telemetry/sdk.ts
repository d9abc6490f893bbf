/** OpenTelemetry's SDK, which the user installs: spans and metrics to a collector, metrics as Prometheus reads them. */

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
  /** Something could not be sent. Called as often as it happens. */
  onFault: () => void;
}

export interface Sdk {
  recorder: Recorder;
  /** In Prometheus' text format; undefined unless that was asked for. */
  metricsText: (() => Promise<string>) | undefined;
  close(): Promise<void>;
}

/** A collector that does not answer holds nothing but this many spans, and nobody for longer than this. */
const EXPORT_TIMEOUT_MS = 5_000;
const MOST_SPANS = 2_048;

export function startSdk({ name, version, settings, runGauges, onFault }: SdkOptions): Sdk {
  diag.setLogger(onlyFaults(onFault), { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
  const { traces, metrics, headers } = settings;
  const resource = resourceFromAttributes({
    "service.version": version,
    ...settings.resourceAttributes,
    "service.name": settings.serviceName ?? settings.resourceAttributes["service.name"] ?? name,
    "service.instance.id": crypto.randomUUID(),
  });
  const sent = { headers, timeoutMillis: EXPORT_TIMEOUT_MS };
  const tracerProvider = new TracerProvider({
    resource,
    sampler: traces === undefined ? new AlwaysOffSampler() : samplerOf(settings.sampler),
    spanProcessors:
      traces === undefined
        ? []
        : [
            new BatchSpanProcessor({
              exporter: new OTLPTraceExporter({ url: traces, ...sent }),
              maxQueueSize: MOST_SPANS,
              exportTimeoutMillis: EXPORT_TIMEOUT_MS,
            }),
          ],
  });
  const scraped = settings.prometheus ? new PrometheusExporter({ preventServerStart: true }) : undefined;
  const pushed =
    metrics === undefined
      ? undefined
      : new PeriodicExportingMetricReader({
          exporter: new OTLPMetricExporter({ url: metrics, ...sent }),
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
    // Together: both have to fit into what a process has left.
    close: async () => {
      await Promise.allSettled([tracerProvider.shutdown(), meterProvider.shutdown()]);
    },
  };
}

async function textOf(reader: PrometheusExporter): Promise<string> {
  const { resourceMetrics } = await reader.collect();
  // Neither the scope nor labels of the resource: they say the same on every line.
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

/** Its sentences are not ours and may quote an address with a password: only that there was one is heard. */
function onlyFaults(onFault: () => void): DiagLogger {
  const ignore = (): void => {};
  return { error: onFault, warn: ignore, info: ignore, debug: ignore, verbose: ignore };
}
