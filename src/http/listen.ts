/** The port: opened with a clear word when it is taken, closed in time even while streams are open. */

import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { AppError } from "../errors.ts";
import { urlHost } from "./host-guard.ts";
import { refuse } from "./error-response.ts";

/** A client that sends byte by byte is given up. Both end with the request: an answer may stream for hours. */
const HEADERS_MS = 15_000;
const REQUEST_MS = 60_000;
const LOOK_EVERY_MS = 5_000;
/** Longer than the usual proxy keeps a connection, so that it is the proxy who closes it. */
const KEEP_ALIVE_MS = 65_000;
/** What has been answered still goes out; the rest of the way out needs time too. */
const CLOSE_MS = 300;

export interface ListenOptions {
  fetch: (request: Request) => Response | Promise<Response>;
  host: string;
  port: number;
}

export interface Listening {
  /** `http://host:port`, with the port that was really taken. */
  url: string;
  /** No new connections; those that are open may finish what they do. */
  stop(): void;
  close(): Promise<void>;
}

export async function listen({ fetch, host, port }: ListenOptions): Promise<Listening> {
  const server = createServer(
    {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: LOOK_EVERY_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    getRequestListener(fetch, { overrideGlobalObjects: false, errorHandler: malformed }),
  );
  await opened(server, host, port);
  const address = server.address();
  const taken = typeof address === "object" && address !== null ? address.port : port;
  const closed = new Promise<void>((resolve) => void server.once("close", resolve));
  return {
    url: `http://${urlHost(host)}:${taken}`,
    stop: () => void server.close(),
    close: async () => {
      server.close();
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function opened(server: Server, host: string, port: number): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, () => {
        server.off("error", reject);
        resolve();
      });
    });
  } catch (error) {
    throw cannotListen(error, host, port);
  }
}

function cannotListen(error: unknown, host: string, port: number): AppError {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return new AppError({
      code: "INVALID_INPUT",
      message: `Port ${port} on ${host} is in use by another program.`,
      suggestion: "Choose another with --port, or --port 0 for any free one.",
    });
  }
  return new AppError({
    code: code === "EACCES" ? "PERMISSION_DENIED" : "INVALID_INPUT",
    message: `Cannot listen on ${urlHost(host)}:${port}${typeof code === "string" ? ` (${code})` : ""}.`,
    suggestion: "Choose another address with --host or another port with --port.",
  });
}

/** Only requests without a usable address come here; everything later has its own answer. */
const malformed = (): Response =>
  refuse({ status: 400, code: "INVALID_INPUT", message: "The request is not valid HTTP for this server." });
