import { expect, test } from "vitest";
import { telemetrySettings } from "./start.ts";

const read = (variables: Record<string, string>, scrapable = false) => telemetrySettings(variables, { scrapable });

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318" };

test("telemetry is off until an endpoint or /metrics is configured, and always off if disabled", () => {
  expect(read({})).toBeUndefined();
  expect(read({ OTEL_SERVICE_NAME: "x", OTEL_EXPORTER_OTLP_HEADERS: "a=b" })).toBeUndefined();
  expect(read({ OTEL_METRICS_EXPORTER: "prometheus" })).toBeUndefined();
  expect(read({ OTEL_METRICS_EXPORTER: "prometheus" }, true)).toMatchObject({ prometheus: true, traces: false });
  expect(read({ ...ENDPOINT, OTEL_SDK_DISABLED: "true" })).toBeUndefined();
});

test("an endpoint of one signal sends that signal only", () => {
  expect(read(ENDPOINT)).toMatchObject({ traces: true, metrics: true });
  expect(read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c/t" })).toMatchObject({ traces: true, metrics: false });
  expect(read({ ...ENDPOINT, OTEL_METRICS_EXPORTER: "none" })).toMatchObject({ traces: true, metrics: false });
});

test("a figure that is out of bounds or no number is the default", () => {
  const figures = { OTEL_METRIC_EXPORT_INTERVAL: "soon", OTEL_TRACES_SAMPLER_ARG: "2" };
  expect(read({ ...ENDPOINT, ...figures })).toMatchObject({ metricIntervalMs: 60_000, samplerRatio: 1 });
});
