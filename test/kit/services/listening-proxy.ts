/** A proxy between a client and the simulator that records all requests and responses. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "vitest";

export interface ListeningProxy {
  url: string;
  /** Path and body of each request. */
  sent: string[];
  /** Bodies of the responses, in the order of their end. */
  received: string[];
}

export async function listenIn(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  target: string,
): Promise<ListeningProxy> {
  const sent: string[] = [];
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    sent.push(`${request.url}\n${body}`);
    const headers = Object.fromEntries(
      ["content-type", "user-agent", "x-goog-api-key"].map((name) => [name, String(request.headers[name])]),
    );
    const reply = await fetch(new URL(request.url ?? "/", target), { method: "POST", headers, body });
    response.writeHead(reply.status, { "content-type": reply.headers.get("content-type") ?? "" });
    const answer = await reply.text();
    received.push(answer);
    response.end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a listening TCP server has no other kind of address
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent, received };
}
