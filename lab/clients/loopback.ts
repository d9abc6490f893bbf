/** HTTP servers of the lab, on loopback and a free port. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

export interface Loopback {
  port: number;
  url: string;
  close(): Promise<void>;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

async function listen(server: Server): Promise<Loopback> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function serveLoopback(handle: Handler): Promise<Loopback> {
  const server = createServer((request, response) => {
    Promise.resolve(handle(request, response)).catch((error: unknown) => {
      process.stderr.write(`lab: ${request.method} ${request.url}: ${String(error).slice(0, 500)}\n`);
      response.destroy();
    });
  });
  return listen(server);
}

export interface BlockingProxy extends Loopback {
  /** External hosts that a client tried to reach. */
  requestedHosts: Set<string>;
}

/** A proxy that rejects every request and records the requested host. */
export async function startBlockingProxy(): Promise<BlockingProxy> {
  const requestedHosts = new Set<string>();
  const server = createServer((request, response) => {
    requestedHosts.add(new URL(request.url ?? "/", `http://${request.headers.host}`).host);
    response.writeHead(403).end();
  });
  server.on("connect", (request: IncomingMessage, socket: Duplex) => {
    requestedHosts.add(request.url ?? "");
    socket.on("error", () => undefined);
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  return { ...(await listen(server)), requestedHosts };
}
