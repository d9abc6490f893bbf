/** Stands between a client and our HTTP server, passes everything on as it comes, and writes it down. */

import { request as httpRequest } from "node:http";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { type Loopback, serveLoopback } from "./loopback.ts";
import type { Passed } from "./wire.ts";

/** One JSON answer, or the data of server-sent events. */
const messagesIn = (body: string): string[] =>
  body.trimStart().startsWith("{") ? [body] : [...body.matchAll(/^data: ?(\{.*)$/gm)].map((match) => match[1] ?? "");

/** Server-sent events are told apart while they come: a client may leave before the end. */
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
    const onward = httpRequest(new URL(request.url ?? "/", target), { method: request.method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      response.flushHeaders();
      listen(reply, passed);
      reply.pipe(response);
      reply.on("error", () => response.destroy());
    });
    onward.on("error", () => response.destroy());
    // Leaving is how a modern client cancels.
    response.on("close", () => onward.destroy());
    onward.end(body);
  });
}
