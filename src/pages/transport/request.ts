/** One GET request over a connection that the guard made; redirects are returned, not followed. */

import { once } from "node:events";
import { type IncomingMessage, request as sendRequest } from "node:http";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { RedirectUnreachable } from "../../gemini/redirect-links.ts";
import { type CheckedUrl, checkUrl, dial, type Network, RefusedError } from "../guard/dial.ts";
import { type FailedOutcome, PageError, type PageLimits } from "../page.ts";
import type { HostQueue } from "./host-queue.ts";
import { errorCodeOf } from "../../platform/error-code.ts";

declare const BUILD_VERSION: string | undefined;

/** The name that robots.txt files address. */
export const ROBOT_NAME = "gemini-search-mcp";
const VERSION = typeof BUILD_VERSION === "string" ? BUILD_VERSION : "0";
/** In the User-Agent header. */
export const PROGRAM = `${ROBOT_NAME}/${VERSION}`;
const USER_AGENT = `${PROGRAM} (reads cited pages at a user's request)`;

interface PageResponse {
  status: number;
  /** Of a redirect; its body is not read. */
  location?: string | undefined;
  contentType: string;
  body: Buffer;
}

interface RequestDeps {
  network: Network;
  limits: PageLimits;
}

const HEADERS = {
  "User-Agent": USER_AGENT,
  Accept: "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8,*/*;q=0.1",
  "Accept-Encoding": "gzip, br, zstd, deflate",
  "Accept-Language": "en,*;q=0.5",
};

const requestPage = (
  checked: CheckedUrl,
  { network, limits }: RequestDeps,
  signal: AbortSignal,
): Promise<PageResponse> =>
  exchange(checked, { network, headers: HEADERS, maxHeaderSize: limits.headerBytes, signal }, async (response) => {
    const { statusCode: status = 0, headers } = response;
    const location = status >= 300 && status < 400 ? headers.location : undefined;
    const contentType = headers["content-type"] ?? "";
    if (location !== undefined) return { status, location, contentType, body: Buffer.alloc(0) };
    return { status, contentType, body: await readBody(response, limits, signal) };
  });

interface Sending {
  network: Network;
  /** With a body, the request is a POST. */
  body?: string;
  headers: Readonly<Record<string, string>>;
  maxHeaderSize: number;
  signal: AbortSignal;
}

/** Sends one request over a connection that the guard made, and closes it once the response is read. */
export async function exchange<Read>(
  checked: CheckedUrl,
  { network, body, headers, maxHeaderSize, signal }: Sending,
  read: (response: IncomingMessage) => Promise<Read>,
): Promise<Read> {
  const { url } = checked;
  const socket = await dial(checked, network, signal);
  try {
    const request = sendRequest({
      // With an `agent`, even `false`, Node.js ignores `createConnection` and looks the name up again.
      createConnection: () => socket,
      method: body === undefined ? "GET" : "POST",
      path: url.pathname + url.search,
      setHost: false,
      headers: { ...headers, Host: url.host, Connection: "close" },
      maxHeaderSize,
      signal,
    });
    // The socket may fail after the response began; the body's stream reports that.
    request.on("error", () => undefined);
    const responded = once(request, "response", { signal });
    request.end(body);
    const [response]: IncomingMessage[] = await responded;
    if (response === undefined) throw new Error("No response.");
    return await read(response);
  } finally {
    socket.on("error", () => undefined);
    socket.destroy();
  }
}

// Errors of fetching a page, each with a sentence of this program.

const CERTIFICATE_FAULT = /^(?:CERT_|ERR_TLS_|ERR_SSL_|EPROTO$|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/;

const SENTENCES: readonly [RegExp, string][] = [
  [/^EAI_AGAIN$/, "The host name could not be looked up."],
  [/^ECONNREFUSED$/, "The host refused the connection."],
  [/^(?:ECONNRESET|EPIPE)$/, "The host closed the connection."],
  [/^E(?:HOST|NET)UNREACH$/, "The host could not be reached."],
  [CERTIFICATE_FAULT, "The certificate of the host is not valid."],
  [/^HPE_HEADER_OVERFLOW$/, "The host sent too many response headers."],
  [/^(?:HPE|ERR|Z|ZSTD)_/, "The host sent a damaged response."],
  [/^(?:ETIMEDOUT|TimeoutError|AbortError)$/, "The host did not answer in time."],
];

/** `error` was caught while a page was fetched; an abort by the caller is not among them. */
export function failedOutcome(error: unknown): FailedOutcome {
  if (error instanceof PageError) return error.outcome;
  if (error instanceof RefusedError) return { outcome: "not_checked", reason: error.message };
  if (error instanceof RedirectUnreachable) return { outcome: "unreachable", reason: error.message };
  const code = errorCodeOf(error) || (error instanceof Error ? error.name : "");
  if (code === "ENOTFOUND" || code === "ENODATA") return { outcome: "gone", reason: "The host name does not exist." };
  const [, reason = "The page could not be fetched."] = SENTENCES.find(([pattern]) => pattern.test(code)) ?? [];
  return { outcome: "unreachable", reason };
}

/** No connection to the host could be made, as opposed to a slow or damaged answer. */
export const isUnreachableHost = (error: unknown): boolean =>
  error instanceof RefusedError ||
  CERTIFICATE_FAULT.test(errorCodeOf(error)) ||
  /^(?:ENOTFOUND|ENODATA|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH)$/.test(errorCodeOf(error));

export const isCertificateFault = (error: unknown): boolean => CERTIFICATE_FAULT.test(errorCodeOf(error));

const unusable = (reason: string): PageError => new PageError({ outcome: "unreachable", reason });

// Fetches a page and follows its redirects by hand, so that the guard checks each address anew.

export interface FollowDeps extends RequestDeps {
  hosts: HostQueue;
  /** Called before each request; throws if it must not be made. */
  permit?: ((checked: CheckedUrl, signal: AbortSignal) => Promise<void>) | undefined;
}

export type Followed = { url: string } & (
  | { response: PageResponse }
  /** `url` is the address whose request failed. */
  | { error: unknown }
);

/** Rejects only if the signal is aborted. */
export async function followRedirects(start: string, deps: FollowDeps, signal: AbortSignal): Promise<Followed> {
  const budget = { remainingMs: deps.limits.fetchMs };
  const visited = new Set<string>();
  let url = start;
  try {
    for (;;) {
      const checked = checkUrl(url);
      checked.url.hash = "";
      url = checked.url.href;
      if (visited.has(url) || visited.size > deps.limits.redirects) {
        throw unusable("The address redirects in a circle or too often.");
      }
      visited.add(url);
      await deps.permit?.(checked, signal);
      const response = await deps.hosts.withHostPermit(checked.host, signal, () =>
        spend(budget, checked, { ...deps, signal }),
      );
      if (response.location === undefined) return { url, response };
      url = targetOf(response.location, checked.url);
    }
  } catch (error) {
    signal.throwIfAborted();
    return { url, error };
  }
}

/** Time in the queue is not counted: it depends on the other pages that are read. */
async function spend(
  budget: { remainingMs: number },
  checked: CheckedUrl,
  { signal, ...deps }: RequestDeps & { signal: AbortSignal },
): Promise<PageResponse> {
  const started = performance.now();
  const timeout = AbortSignal.timeout(Math.max(1, Math.round(budget.remainingMs)));
  try {
    return await requestPage(checked, deps, AbortSignal.any([signal, timeout]));
  } catch (error) {
    // A connection that is cut off at its time limit reports that it was closed.
    timeout.throwIfAborted();
    throw error;
  } finally {
    budget.remainingMs -= performance.now() - started;
  }
}

function targetOf(location: string, base: URL): string {
  // Node.js reads headers as Latin-1; addresses outside ASCII are sent as UTF-8.
  const text = Buffer.from(location, "latin1").toString("utf8");
  return URL.canParse(text, base.href) ? new URL(text, base.href).href : text;
}

// Reads a response body within bounds: bytes as received and, so that a decompression bomb is cut, as decoded.

const DECODERS = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["br", createBrotliDecompress],
  ["zstd", createZstdDecompress],
  ["deflate", createInflate],
]);

type BodyLimits = Pick<PageLimits, "wireBytes" | "textBytes">;

async function readBody(response: IncomingMessage, limits: BodyLimits, signal: AbortSignal): Promise<Buffer> {
  const decoder = decoderOf(response.headers["content-encoding"]);
  const chunks: Buffer[] = [];
  const collect = bounded(limits.textBytes, (chunk) => chunks.push(chunk));
  const wire = bounded(limits.wireBytes);
  const stages = decoder === undefined ? [wire, collect] : [wire, decoder, collect];
  collect.resume();
  await pipeline([response, ...stages], { signal });
  return Buffer.concat(chunks);
}

/** Two codings in a row are never sent by a normal server, and multiply what a bomb can hold. */
function decoderOf(header = ""): Transform | undefined {
  const coding = header.trim().toLowerCase();
  if (coding === "" || coding === "identity") return undefined;
  const create = DECODERS.get(coding);
  if (create === undefined) throw unusable("The host sent the page in a coding that is not supported.");
  return create();
}

/** Passes chunks on until there are too many bytes. With `keep`, chunks end here. */
function bounded(maxBytes: number, keep?: (chunk: Buffer) => void): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) return done(new PageError({ outcome: "unreadable", wall: "too_large" }));
      if (keep === undefined) return done(null, chunk);
      keep(chunk);
      done();
    },
  });
}
