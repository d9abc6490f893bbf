/** The settings of traces and metrics, by the names that OpenTelemetry gave them. */

import { z } from "zod";
import { secret, setting, text, url, wholeNumber } from "./setting.ts";

const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

export const TELEMETRY_SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: setting<string | undefined>({
    schema: url,
    default: undefined,
    about:
      "An OpenTelemetry collector (OTLP over HTTP) that traces and metrics are sent to. Needs OpenTelemetry's packages beside this one.",
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: setting<string | undefined>({
    schema: url,
    default: undefined,
    about: "Where traces are sent, with the path; alone, nothing but traces is sent.",
  }),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: setting<string | undefined>({
    schema: url,
    default: undefined,
    about: "Where metrics are sent, with the path; alone, nothing but metrics is sent.",
  }),
  OTEL_EXPORTER_OTLP_HEADERS: setting<string | undefined>({
    schema: secret,
    default: undefined,
    about: "Headers for the collector, `name=value` separated by commas.",
  }),
  OTEL_SERVICE_NAME: setting<string | undefined>({
    schema: text,
    default: undefined,
    about: "The name under which traces and metrics are filed. Unset: gemini-search-mcp.",
  }),
  OTEL_RESOURCE_ATTRIBUTES: setting<string | undefined>({
    schema: text,
    default: undefined,
    about: "What else is said about this server, `name=value` separated by commas.",
  }),
  OTEL_TRACES_SAMPLER: setting<(typeof SAMPLERS)[number]>({
    schema: z.enum(SAMPLERS),
    default: "parentbased_always_on",
    about: "Which traces are kept.",
  }),
  OTEL_TRACES_SAMPLER_ARG: setting<number | undefined>({
    schema: z.coerce.number().min(0).max(1).optional(),
    default: undefined,
    about: "For the samplers with a ratio: the part that is kept, 0 to 1.",
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
      "`true` lets `serve` answer at `/metrics` in Prometheus' text format, to whoever has a token. Needs OpenTelemetry's packages beside this one.",
  }),
} as const;
