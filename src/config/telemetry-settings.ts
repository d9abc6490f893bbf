/** Settings of traces and metrics, with OpenTelemetry's standard names. */

import { z } from "zod";
import { optional, secret, setting, text, url, wholeNumber } from "./setting.ts";

const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

export const TELEMETRY_SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optional({
    schema: url,
    about:
      "OpenTelemetry collector (OTLP over HTTP) for traces and metrics. Needs OpenTelemetry's packages installed beside this one.",
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optional({
    schema: url,
    about: "Full URL for traces; if only this is set, only traces are sent.",
  }),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: optional({
    schema: url,
    about: "Full URL for metrics; if only this is set, only metrics are sent.",
  }),
  OTEL_EXPORTER_OTLP_HEADERS: optional({
    schema: secret,
    about: "Headers for the collector, `name=value` separated by commas.",
  }),
  OTEL_SERVICE_NAME: optional({
    schema: text,
    about: "Service name in traces and metrics. Unset: gemini-search-mcp.",
  }),
  OTEL_RESOURCE_ATTRIBUTES: optional({
    schema: text,
    about: "Further attributes of this server, `name=value` separated by commas.",
  }),
  OTEL_TRACES_SAMPLER: setting<(typeof SAMPLERS)[number]>({
    schema: z.enum(SAMPLERS),
    default: "parentbased_always_on",
    about: "Sampler for traces.",
  }),
  OTEL_TRACES_SAMPLER_ARG: setting<number | undefined>({
    schema: z.coerce.number().min(0).max(1).optional(),
    default: undefined,
    about: "For samplers with a ratio: the fraction of traces to keep, 0 to 1.",
  }),
  OTEL_METRIC_EXPORT_INTERVAL: setting({
    schema: wholeNumber(100, 3_600_000),
    default: 60_000,
    about: "How often metrics are sent, in milliseconds.",
  }),
  OTEL_SDK_DISABLED: setting({
    schema: z.stringbool(),
    default: false,
    about: "`true` turns traces and metrics off, whatever else is set.",
  }),
  METRICS_ENABLED: setting({
    schema: z.stringbool(),
    default: false,
    about:
      "`true`: `serve` provides `/metrics` in Prometheus text format to callers with the server's own token. Needs OpenTelemetry's packages installed beside this one.",
  }),
} as const;
