/**
 * Which telemetry OpenTelemetry's own variables ask for. Its exporters and resource detectors read their variables
 * themselves (endpoints, headers, timeouts, service name, attributes); here are those that the SDK leaves to the program.
 */

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
