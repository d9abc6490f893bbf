/** Sends one HTTP request over its own connection: never pooled, redirected, replayed or retried. */

import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { AppError } from "../../errors.ts";
import { errorCodeOf } from "../../platform/error-code.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { ResponseTooLarge } from "../transport/guarded-fetch.ts";

export interface SingleRequest {
  url: URL;
  method: string;
  headers: Headers;
  body: Buffer;
  /** Aborts the request, even after it was sent. */
  signal: AbortSignal;
  /** Holds HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Called once the connection is established and before the first byte is written. */
  checkBeforeSending: () => Promise<AppError | undefined>;
  maxResponseBytes: number;
}

export interface HttpResponse {
  status: number;
  headers: Headers;
  text: string;
  /** The error that ended the body early; `text` is what arrived before it. */
  cut?: unknown;
}

export type SendOnce = (request: SingleRequest) => Promise<HttpResponse>;

/** The request was never written to the connection. After any other error it may have arrived. */
export class NotSent extends Error {
  readonly host: string | undefined;
  constructor(cause: unknown, host?: string) {
    super("The request was not sent.", { cause });
    this.name = "NotSent";
    this.host = host;
  }
}

/** `checkBeforeSending` returned a reason not to send. */
export class Withheld extends Error {
  readonly reason: AppError;
  constructor(reason: AppError) {
    super("The request was withheld.");
    this.name = "Withheld";
    this.reason = reason;
  }
}

/** The connect timeout of Node's fetch. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Node's fetch would reuse connections of polls, which may be stale, and repeats a request on its own after a 421.
 * node:http writes nothing before it gets the body, so the connection can be established first: a failure up to that
 * point means that nothing was sent.
 */
export const sendOnce: SendOnce = async (request) => {
  const outgoing = await open(request);
  const failed = rejectOnFailure(outgoing);
  const abort = (): void => void outgoing.destroy(new DOMException("The request was aborted.", "AbortError"));
  request.signal.addEventListener("abort", abort, { once: true });
  if (request.signal.aborted) abort();
  try {
    const refusal = await connectAndCheck(outgoing, failed, request);
    if (refusal !== undefined) throw new Withheld(refusal);
    const responded = new Promise<IncomingMessage>((resolve) => void outgoing.once("response", resolve));
    outgoing.end(request.body);
    failpoint("during-post");
    return await readResponse(await Promise.race([responded, failed]), request);
  } finally {
    request.signal.removeEventListener("abort", abort);
    outgoing.destroy();
  }
};

async function open({ url, method, headers, body, environment }: SingleRequest): Promise<ClientRequest> {
  const { request: createRequest, Agent } =
    url.protocol === "https:" ? await import("node:https") : await import("node:http");
  // A separate agent without keep-alive opens a new connection and closes it after this request.
  const agent = new Agent({ keepAlive: false, proxyEnv: proxyVariables(environment) });
  const outgoing = createRequest(url, { method, agent });
  // Not passed as an option: NODE_DEBUG=http prints options, and the API key is a header.
  for (const [name, value] of headers) outgoing.setHeader(name, value);
  outgoing.setHeader("content-length", body.length);
  return outgoing;
}

/** Only the proxy variables: NODE_DEBUG=http prints the agent's options. */
const proxyVariables = (environment: SingleRequest["environment"]): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => /^(?:https?|no)_proxy$/i.test(name)));

/** Rejects with the request's first error, at any stage. */
function rejectOnFailure(outgoing: ClientRequest): Promise<never> {
  const failed = new Promise<never>((_resolve, reject) => {
    outgoing.on("error", reject);
    outgoing.once("close", () => reject(new Error("The connection was closed.")));
  });
  // Prevents an unhandled rejection when the error occurs while no stage awaits this promise.
  failed.catch(() => undefined);
  return failed;
}

async function connectAndCheck(
  outgoing: ClientRequest,
  failed: Promise<never>,
  { url, checkBeforeSending }: SingleRequest,
): Promise<AppError | undefined> {
  const timeout = Object.assign(new Error("The connection took too long."), { code: "ETIMEDOUT", syscall: "connect" });
  const timer = setTimeout(() => outgoing.destroy(timeout), CONNECT_TIMEOUT_MS);
  try {
    await Promise.race([connected(outgoing), failed]).finally(() => clearTimeout(timer));
    const refusal = await Promise.race([checkBeforeSending(), failed]);
    if (outgoing.destroyed) await failed;
    return refusal;
  } catch (error) {
    throw new NotSent(error, url.host);
  }
}

/** Resolves once the connection is established; never settles if that fails. */
async function connected(outgoing: ClientRequest): Promise<void> {
  const socket = await new Promise<Socket>((resolve) => void outgoing.once("socket", resolve));
  const isSecure = socket instanceof TLSSocket;
  // Behind a proxy the handshake is already finished, and Node emits no further event for it.
  const isPending = socket.connecting || (isSecure && isHandshaking(socket));
  if (isPending)
    await new Promise<void>((resolve) => void socket.once(isSecure ? "secureConnect" : "connect", resolve));
}

/** `secureConnecting` is missing from Node's types. */
const isHandshaking = (socket: TLSSocket): boolean => "secureConnecting" in socket && socket.secureConnecting === true;

/** Of a body that breaks off: its id comes early, and an endless body would otherwise be copied as a whole. */
const MAX_CUT_BYTES = 65_536;

/** Keeps the beginning of a body that breaks off: it may contain the id of a paid run. */
async function readResponse(incoming: IncomingMessage, { maxResponseBytes }: SingleRequest): Promise<HttpResponse> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const item of [value ?? []].flat()) headers.append(name, item);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  let cut: unknown;
  try {
    for await (const chunk of incoming) {
      const piece = Buffer.from(chunk);
      bytes += piece.length;
      if (bytes > maxResponseBytes) throw new ResponseTooLarge(maxResponseBytes);
      chunks.push(piece);
    }
  } catch (error) {
    cut = error;
  }
  const body = Buffer.concat(chunks, cut === undefined ? bytes : Math.min(bytes, MAX_CUT_BYTES));
  const decoded = await decode(body, headers.get("content-encoding"), maxResponseBytes);
  return { status: incoming.statusCode ?? 0, headers, text: decoded.toString(), ...(cut !== undefined && { cut }) };
}

async function decode(body: Buffer, encoding: string | null, maxOutputLength: number): Promise<Buffer> {
  if (encoding === null || encoding === "identity") return body;
  const { brotliDecompressSync, constants, unzipSync } = await import("node:zlib");
  const { BROTLI_OPERATION_FLUSH, Z_SYNC_FLUSH } = constants;
  try {
    // Flushing returns what a compressed text contains up to where it breaks off.
    return encoding === "br"
      ? brotliDecompressSync(body, { maxOutputLength, finishFlush: BROTLI_OPERATION_FLUSH })
      : unzipSync(body, { maxOutputLength, finishFlush: Z_SYNC_FLUSH });
  } catch (error) {
    throw errorCodeOf(error) === "ERR_BUFFER_TOO_LARGE" ? new ResponseTooLarge(maxOutputLength) : error;
  }
}
