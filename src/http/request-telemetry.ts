/** Telemetry of HTTP requests: a metric for every request, a span for authenticated ones. */

import type { Context, Next } from "hono";
import { routePath } from "hono/route";
import { isEventStream, onResponseEnd } from "../mcp/http/responses.ts";
import { add, inSpan, isRecording, measure } from "../telemetry/telemetry.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Labels come from our own routes, never from the request. */
export async function measureRequest(context: Context, next: Next): Promise<void> {
  if (!isRecording()) return next();
  const began = performance.now();
  await next();
  measure("http.server.request.duration", (performance.now() - began) / 1_000, {
    "http.request.method": methodOf(context),
    "http.route": routePath(context, -1),
    "http.response.status_code": context.res.status,
  });
}

/** After authentication only, so that the `traceparent` of an unauthenticated request is ignored. */
export async function inRequestSpan(context: Context, next: Next): Promise<void> {
  if (!isRecording() || context.req.path === "/metrics") return next();
  const [method, route] = [methodOf(context), routePath(context, -1)];
  const attributes = { "http.request.method": method, "http.route": route };
  const parent = context.req.header("traceparent");
  await inSpan({ name: `${method} ${route}`, kind: "server", attributes, parent }, async (span) => {
    await next();
    const { status } = context.res;
    span.set({ "http.response.status_code": status });
    if (status >= 500) span.fail(String(status));
  });
  context.res = countOpenStream(context.res);
}

const methodOf = ({ req }: Context): string => (METHODS.includes(req.method) ? req.method : "_OTHER");

function countOpenStream(response: Response): Response {
  if (response.body === null || !isEventStream(response)) return response;
  add("gemini_search.streams", 1, { side: "client" });
  return onResponseEnd(response, () => add("gemini_search.streams", -1, { side: "client" }));
}
