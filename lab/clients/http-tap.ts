/** A proxy between a client and our HTTP server that forwards everything unchanged and records it. */

import { request as httpRequest } from "node:http";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { type Loopback, serveLoopback } from "./loopback.ts";
import type { Passed } from "./wire.ts";

/** One JSON response, or the data of server-sent events. */
const messagesIn = (body: string): string[] =>
  body.trimStart().startsWith("{") ? [body] : [...body.matchAll(/^data: ?(\{.*)$/gm)].map((match) => match[1] ?? "");

/** Server-sent events are recorded as they arrive, because a client may disconnect before the end. */
function listen(stream: Readable, passed: Passed[]): void {
  let rest = "";
  const take = (text: string): void =>
    void passed.push(...messagesIn(text).map((line) => ({ from: "server" as const, line })));
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    const events = `${rest}${chunk}`.split("\n\n");
    rest = events.pop() ?? "";
    events.forEach(take);
  });
  stream.on("end", () => take(rest));
}

export async function tapHttp(target: URL, passed: Passed[]): Promise<Loopback> {
  return serveLoopback(async (request, response) => {
    const body = await buffer(request);
    if (body.length > 0) passed.push({ from: "client", line: body.toString() });
    const headers = { ...request.headers, host: target.host };
    const upstream = httpRequest(new URL(request.url ?? "/", target), { method: request.method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      response.flushHeaders();
      listen(reply, passed);
      reply.pipe(response);
      reply.on("error", () => response.destroy());
    });
    upstream.on("error", () => response.destroy());
    // A modern client cancels by disconnecting.
    response.on("close", () => upstream.destroy());
    upstream.end(body);
  });
}
