/** One GET request over a connection that the guard made; redirects are returned, not followed. */

import { once } from "node:events";
import { type IncomingMessage, request as sendRequest } from "node:http";
import { dial } from "../guard/dial.ts";
import type { CheckedUrl } from "../guard/check-url.ts";
import type { Network } from "../guard/network.ts";
import type { PageLimits } from "../limits.ts";
import { ACCEPTED_CODINGS, readBody } from "./read-body.ts";

declare const BUILD_VERSION: string | undefined;

/** The name that robots.txt files address. */
export const ROBOT_NAME = "gemini-search-mcp";
const VERSION = typeof BUILD_VERSION === "string" ? BUILD_VERSION : "0";
const USER_AGENT = `${ROBOT_NAME}/${VERSION} (reads cited pages at a user's request)`;

export interface PageResponse {
  status: number;
  /** Of a redirect; its body is not read. */
  location?: string | undefined;
  contentType: string;
  body: Buffer;
}

export interface RequestDeps {
  network: Network;
  limits: PageLimits;
}

export async function requestPage(
  checked: CheckedUrl,
  { network, limits }: RequestDeps,
  signal: AbortSignal,
): Promise<PageResponse> {
  const socket = await dial(checked, network, signal);
  try {
    const response = await send(checked, { socket, maxHeaderSize: limits.headerBytes, signal });
    const { statusCode: status = 0, headers } = response;
    const location = status >= 300 && status < 400 ? headers.location : undefined;
    const contentType = headers["content-type"] ?? "";
    if (location !== undefined) return { status, location, contentType, body: Buffer.alloc(0) };
    return { status, contentType, body: await readBody(response, limits, signal) };
  } finally {
    socket.on("error", () => undefined);
    socket.destroy();
  }
}

interface Sending {
  socket: Awaited<ReturnType<typeof dial>>;
  maxHeaderSize: number;
  signal: AbortSignal;
}

async function send({ url }: CheckedUrl, { socket, maxHeaderSize, signal }: Sending): Promise<IncomingMessage> {
  const request = sendRequest({
    // With an `agent`, even `false`, Node.js ignores `createConnection` and looks the name up again.
    createConnection: () => socket,
    path: url.pathname + url.search,
    setHost: false,
    headers: {
      Host: url.host,
      "User-Agent": USER_AGENT,
      Accept: "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8,*/*;q=0.1",
      "Accept-Encoding": ACCEPTED_CODINGS,
      "Accept-Language": "en,*;q=0.5",
      Connection: "close",
    },
    maxHeaderSize,
    signal,
  });
  // The socket may fail after the response began; the body's stream reports that.
  request.on("error", () => undefined);
  request.end();
  const [response]: IncomingMessage[] = await once(request, "response", { signal });
  if (response === undefined) throw new Error("No response.");
  return response;
}
