/** An OpenTelemetry collector on loopback: receives OTLP as JSON over HTTP and stores it. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import type { Ending } from "../server/scene.ts";

const value = z.looseObject({
  stringValue: z.string().optional(),
  intValue: z.union([z.string(), z.number()]).optional(),
});
const attributes = z
  .array(z.object({ key: z.string(), value }))
  .default([])
  .transform((list) =>
    Object.fromEntries(list.map(({ key, value: { stringValue, intValue } }) => [key, stringValue ?? Number(intValue)])),
  );
const span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  attributes,
  status: z.object({ code: z.number().optional() }).optional(),
});
const points = z.object({ dataPoints: z.array(z.looseObject({ attributes })) }).optional();
const metric = z.object({ name: z.string(), sum: points, gauge: points, histogram: points });
const resource = z.object({ attributes });
const traces = z.object({
  resourceSpans: z.array(z.object({ resource, scopeSpans: z.array(z.object({ spans: z.array(span) })) })),
});
const metrics = z.object({
  resourceMetrics: z.array(z.object({ resource, scopeMetrics: z.array(z.object({ metrics: z.array(metric) })) })),
});

export type ReceivedSpan = z.infer<typeof span>;

export interface Collector {
  url: string;
  spans(): ReceivedSpan[];
  /** The received data points of one metric. */
  points(name: string): Record<string, unknown>[];
  /** Everything received, unparsed. */
  text(): string;
  /** The received metrics, unparsed. */
  metricText(): string;
  headers(): Record<string, unknown>[];
  resources(): Record<string, unknown>[];
}

export async function startCollector({ onTestFinished }: Ending): Promise<Collector> {
  const received: { path: string; body: string; headers: Record<string, unknown> }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      received.push({ path: request.url ?? "", body, headers: request.headers });
      response.setHeader("content-type", "application/json").end("{}");
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo;
  const bodies = (path: string): unknown[] =>
    received.filter((request) => request.path === path).map(({ body }) => JSON.parse(body));
  const resourceSpans = () => bodies("/v1/traces").flatMap((body) => traces.parse(body).resourceSpans);
  const resourceMetrics = () => bodies("/v1/metrics").flatMap((body) => metrics.parse(body).resourceMetrics);
  return {
    url: `http://127.0.0.1:${port}`,
    spans: () => resourceSpans().flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    points: (name) =>
      resourceMetrics()
        .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
        .filter((found) => found.name === name)
        .flatMap(({ sum, gauge, histogram }) => (sum ?? gauge ?? histogram)?.dataPoints ?? []),
    text: () => received.map(({ body }) => body).join("\n"),
    metricText: () => JSON.stringify(bodies("/v1/metrics")),
    headers: () => received.map(({ headers }) => headers),
    resources: () => [...resourceSpans(), ...resourceMetrics()].map((sent) => sent.resource.attributes),
  };
}
