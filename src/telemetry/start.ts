/** Starts telemetry if it is configured; every failure is only logged. */

import { waitAtMost } from "../platform/clock.ts";
import { errorCodeOf } from "../platform/error-code.ts";
import type { Log } from "../platform/log.ts";
import { type RunGauges, setRecorder, type TelemetrySettings } from "./telemetry.ts";

/** Same as `peerDependencies` in package.json; a test compares them. */
export const PACKAGES = [
  "@opentelemetry/api@^1.10.0",
  "@opentelemetry/exporter-metrics-otlp-http@^0.301.0",
  "@opentelemetry/exporter-prometheus@^0.301.0",
  "@opentelemetry/exporter-trace-otlp-http@^0.301.0",
  "@opentelemetry/resources@^3.1.1",
  "@opentelemetry/sdk-metrics@^3.1.1",
  "@opentelemetry/sdk-trace@^3.1.1",
];

const MISSING = `OpenTelemetry is set up, but its packages are not installed; nothing is traced or measured. Install them beside gemini-search-mcp: npm install ${PACKAGES.join(" ")} (with --global where gemini-search-mcp is global).`;
const NOT_STARTED = "OpenTelemetry could not be started; nothing is traced or measured.";
const NOT_SENT =
  "Traces or metrics could not be sent to the OpenTelemetry collector. They are dropped; nothing else is affected.";

const WARN_INTERVAL_MS = 60_000;
/** Less than a process has left at shutdown. */
const MAX_FLUSH_MS = 500;

interface TelemetryOptions {
  name: string;
  version: string;
  settings: TelemetrySettings;
  log: Log;
  runGauges: () => Promise<RunGauges | undefined>;
}

export interface Telemetry {
  /** In Prometheus text format; undefined unless OTEL_METRICS_EXPORTER names `prometheus`. */
  metricsText: (() => Promise<string>) | undefined;
  /** Exports what is pending, within a time limit. */
  close(): Promise<void>;
}

export async function startTelemetry({ log, ...options }: TelemetryOptions): Promise<Telemetry | undefined> {
  let warnedAt = -Infinity;
  const onFault = (): void => {
    const now = performance.now();
    if (now - warnedAt < WARN_INTERVAL_MS) return;
    warnedAt = now;
    log.warn(NOT_SENT);
  };
  try {
    const { startSdk } = await import("./sdk.ts");
    const { recorder, metricsText, close } = startSdk({ ...options, onFault });
    setRecorder(recorder);
    return { metricsText, close: () => waitAtMost(MAX_FLUSH_MS, close()) };
  } catch (error) {
    log.warn(isMissing(error) ? MISSING : NOT_STARTED);
    return undefined;
  }
}

const isMissing = (error: unknown): boolean => errorCodeOf(error) === "ERR_MODULE_NOT_FOUND";

/** Undefined if nothing is configured; then the SDK is not loaded. */
export function telemetrySettings(
  environment: Record<string, string | undefined>,
  { scrapable }: { scrapable: boolean },
): TelemetrySettings | undefined {
  const read = (name: string): string => environment[name]?.trim() ?? "";
  const hasEndpoint = (signal: string): boolean =>
    read("OTEL_EXPORTER_OTLP_ENDPOINT") !== "" || read(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`) !== "";
  const exporters = (read("OTEL_METRICS_EXPORTER") || "otlp").split(",").map((name) => name.trim());
  const settings: TelemetrySettings = {
    traces: hasEndpoint("TRACES"),
    metrics: exporters.includes("otlp") && hasEndpoint("METRICS"),
    prometheus: exporters.includes("prometheus") && scrapable,
    sampler: read("OTEL_TRACES_SAMPLER"),
    samplerRatio: within(read("OTEL_TRACES_SAMPLER_ARG"), { min: 0, max: 1, otherwise: 1 }),
    metricIntervalMs: within(read("OTEL_METRIC_EXPORT_INTERVAL"), { min: 100, max: 3_600_000, otherwise: 60_000 }),
  };
  const isWanted = settings.traces || settings.metrics || settings.prometheus;
  return !isWanted || read("OTEL_SDK_DISABLED").toLowerCase() === "true" ? undefined : settings;
}

function within(text: string, { min, max, otherwise }: { min: number; max: number; otherwise: number }): number {
  const value = Number(text);
  return text !== "" && value >= min && value <= max ? value : otherwise;
}
