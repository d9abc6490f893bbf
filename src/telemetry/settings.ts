/** Interprets the supported OpenTelemetry variables. */

type SamplerName = `${"parentbased_" | ""}${"always_on" | "always_off" | "traceidratio"}`;

export interface TelemetryVariables {
  OTEL_EXPORTER_OTLP_ENDPOINT: string | undefined;
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: string | undefined;
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: string | undefined;
  OTEL_EXPORTER_OTLP_HEADERS: string | undefined;
  OTEL_SERVICE_NAME: string | undefined;
  OTEL_RESOURCE_ATTRIBUTES: string | undefined;
  OTEL_TRACES_SAMPLER: SamplerName;
  OTEL_TRACES_SAMPLER_ARG: number | undefined;
  OTEL_METRIC_EXPORT_INTERVAL: number;
  OTEL_SDK_DISABLED: boolean;
  METRICS_ENABLED: boolean;
}

export interface TelemetrySettings {
  /** Undefined: spans are not exported. */
  traces: string | undefined;
  metrics: string | undefined;
  /** Secret. */
  headers: Record<string, string>;
  serviceName: string | undefined;
  resourceAttributes: Record<string, string>;
  sampler: { name: SamplerName; argument: number | undefined };
  metricIntervalMs: number;
  prometheus: boolean;
}

/** Undefined if nothing is configured; then the SDK is not loaded. */
export function telemetrySettings(
  variables: TelemetryVariables,
  { scrapable }: { scrapable: boolean },
): TelemetrySettings | undefined {
  const base = variables.OTEL_EXPORTER_OTLP_ENDPOINT;
  const settings: TelemetrySettings = {
    // A signal's own endpoint is used unchanged; the common one gets the signal's path.
    traces: variables.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? under(base, "v1/traces"),
    metrics: variables.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT ?? under(base, "v1/metrics"),
    headers: keyPairs(variables.OTEL_EXPORTER_OTLP_HEADERS),
    serviceName: variables.OTEL_SERVICE_NAME,
    resourceAttributes: keyPairs(variables.OTEL_RESOURCE_ATTRIBUTES),
    sampler: { name: variables.OTEL_TRACES_SAMPLER, argument: variables.OTEL_TRACES_SAMPLER_ARG },
    metricIntervalMs: variables.OTEL_METRIC_EXPORT_INTERVAL,
    prometheus: variables.METRICS_ENABLED && scrapable,
  };
  const isWanted = settings.traces !== undefined || settings.metrics !== undefined || settings.prometheus;
  return variables.OTEL_SDK_DISABLED || !isWanted ? undefined : settings;
}

const under = (base: string | undefined, path: string): string | undefined =>
  base === undefined ? undefined : `${base.replace(/\/+$/, "")}/${path}`;

/** Parses `name=value,name=value` with percent-encoded values; other forms are ignored. */
function keyPairs(text: string | undefined): Record<string, string> {
  const pairs = (text ?? "").split(",").map((pair) => /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair));
  return Object.fromEntries(pairs.flatMap((pair) => (pair === null ? [] : [[pair[1] ?? "", decoded(pair[2] ?? "")]])));
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
