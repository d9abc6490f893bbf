/** Opens the HTTP port with a clear error when it is in use, and closes it in time while streams are open. */

import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { AppError, invalidInput } from "../errors.ts";
import { urlHost } from "./host-guard.ts";
import { refuse } from "./error-response.ts";
import { errorCodeOf } from "../platform/error-code.ts";

/** Against clients that send byte by byte. Both apply to the request only: a response may stream for hours. */
const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 60_000;
const CONNECTION_CHECK_INTERVAL_MS = 5_000;
/** Longer than the usual proxy's, so that the proxy closes an idle connection first. */
const KEEP_ALIVE_MS = 65_000;
/** Lets written responses leave the process; the other shutdown steps need time too. */
const CLOSE_TIMEOUT_MS = 300;

export interface ListenOptions {
  /** The bindings name the connection. */
  fetch: (request: Request, bindings?: object) => Response | Promise<Response>;
  host: string;
  port: number;
}

export interface Listening {
  /** `http://host:port`, with the actual port. */
  url: string;
  /** Accepts no new connections; open ones may finish. */
  stop(): void;
  close(): Promise<void>;
}

export async function listen({ fetch, host, port }: ListenOptions): Promise<Listening> {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTION_CHECK_INTERVAL_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    getRequestListener(fetch, { overrideGlobalObjects: false, errorHandler: malformed }),
  );
  await openPort(server, host, port);
  const address = server.address();
  const actualPort = typeof address === "object" && address !== null ? address.port : port;
  const closed = new Promise<void>((resolve) => void server.once("close", resolve));
  return {
    url: `http://${urlHost(host)}:${actualPort}`,
    stop: () => void server.close(),
    close: async () => {
      server.close();
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function openPort(server: Server, host: string, port: number): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, () => {
        server.off("error", reject);
        resolve();
      });
    });
  } catch (error) {
    throw listenError(error, host, port);
  }
}

function listenError(error: unknown, host: string, port: number): AppError {
  const code = errorCodeOf(error);
  if (code === "EADDRINUSE") {
    return invalidInput(`Port ${port} on ${host} is in use by another program.`, {
      suggestion: "Choose another with --port, or --port 0 for any free one.",
    });
  }
  return new AppError({
    code: code === "EACCES" ? "PERMISSION_DENIED" : "INVALID_INPUT",
    message: `Cannot listen on ${urlHost(host)}:${port}${code === "" ? "" : ` (${code})`}.`,
    suggestion: "Choose another address with --host or another port with --port.",
  });
}

/** Only for requests without a valid URL; all other errors have their own response. */
const malformed = (): Response =>
  refuse({ status: 400, code: "INVALID_INPUT", message: "The request is not valid HTTP." });
