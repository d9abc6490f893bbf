import { expect, test } from "vitest";
import { telemetrySettings, type TelemetryVariables } from "./settings.ts";

const UNSET: TelemetryVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: undefined,
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: undefined,
  OTEL_EXPORTER_OTLP_HEADERS: undefined,
  OTEL_SERVICE_NAME: undefined,
  OTEL_RESOURCE_ATTRIBUTES: undefined,
  OTEL_TRACES_SAMPLER: "parentbased_always_on",
  OTEL_TRACES_SAMPLER_ARG: undefined,
  OTEL_METRIC_EXPORT_INTERVAL: 60_000,
  OTEL_SDK_DISABLED: false,
  METRICS_ENABLED: false,
};
const read = (variables: Partial<TelemetryVariables>, scrapable = false) =>
  telemetrySettings({ ...UNSET, ...variables }, { scrapable });

test("telemetry is off until an endpoint or /metrics is configured, and always off if disabled", () => {
  expect(read({})).toBeUndefined();
  expect(read({ OTEL_SERVICE_NAME: "x", OTEL_EXPORTER_OTLP_HEADERS: "a=b" })).toBeUndefined();
  expect(read({ METRICS_ENABLED: true })).toBeUndefined();
  expect(read({ METRICS_ENABLED: true }, true)).toMatchObject({ prometheus: true, traces: undefined });
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318", OTEL_SDK_DISABLED: true })).toBeUndefined();
});

test("the common endpoint gets the signal's path, a signal's own is used unchanged", () => {
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318" })).toMatchObject({
    traces: "http://c:4318/v1/traces",
    metrics: "http://c:4318/v1/metrics",
  });
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: "https://c/otlp/" })).toMatchObject({
    traces: "https://c/otlp/v1/traces",
  });
  expect(read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c/t" })).toMatchObject({
    traces: "http://c/t",
    metrics: undefined,
  });
});

test("lists of names and values are parsed as the specification defines them", () => {
  const settings = read({
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://c",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20a=b, x-team = search,broken,=none,bad=%E0",
  });
  expect(settings?.headers).toEqual({ authorization: "Bearer a=b", "x-team": "search", bad: "%E0" });
});
