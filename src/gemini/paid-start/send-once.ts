/** Sends one HTTP request over a connection of its own: never pooled, redirected, replayed or retried. */

import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Readable } from "node:stream";
import type { AppError } from "../../errors.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { AnswerTooLong } from "../transport/bounded-fetch.ts";

export interface OneRequest {
  url: URL;
  method: string;
  headers: Headers;
  body: Buffer;
  /** Aborts the request, whether or not it was sent. */
  signal: AbortSignal;
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read from it. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Called once the connection is established and before the first byte is written. */
  checkBeforeSending: () => Promise<AppError | undefined>;
  maxAnswerBytes: number;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

export type SendOnce = (request: OneRequest) => Promise<Answer>;

/** The request never left this machine. Every other error means that it may have arrived. */
export class NotSent extends Error {
  readonly host: string | undefined;
  constructor(cause: unknown, host?: string) {
    super("The request was not sent.", { cause });
    this.name = "NotSent";
    this.host = host;
  }
}

/** `checkBeforeSending` refused. */
export class Withheld extends Error {
  readonly reason: AppError;
  constructor(reason: AppError) {
    super("The request was withheld.");
    this.name = "Withheld";
    this.reason = reason;
  }
}

/** As long as Node's fetch waits for a connection. */
const CONNECT_MS = 10_000;

/**
 * Node's fetch reuses the connections of polls, which may be stale, and sends a request again by itself when it is
 * answered with 421. node:http writes nothing until the body is given to it, so that the connection can be established
 * first: whatever fails until then is known not to have been sent.
 */
export const sendOnce: SendOnce = async (wish) => {
  const outgoing = await open(wish);
  const failed = failureOf(outgoing);
  const abort = (): void => void outgoing.destroy(new DOMException("The request was aborted.", "AbortError"));
  wish.signal.addEventListener("abort", abort, { once: true });
  if (wish.signal.aborted) abort();
  try {
    const refusal = await beforeBytes(outgoing, failed, wish);
    if (refusal !== undefined) throw new Withheld(refusal);
    const answered = new Promise<IncomingMessage>((resolve) => void outgoing.once("response", resolve));
    outgoing.end(wish.body);
    failpoint("during-post");
    return await readAnswer(await Promise.race([answered, failed]), wish);
  } finally {
    wish.signal.removeEventListener("abort", abort);
    outgoing.destroy();
  }
};

async function open({ url, method, headers, body, environment }: OneRequest): Promise<ClientRequest> {
  const { request, Agent } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  // An agent of its own, without keep-alive: a new connection, closed after this request.
  const agent = new Agent({ keepAlive: false, proxyEnv: proxyVariables(environment) });
  const outgoing = request(url, { method, agent });
  // Not among the options: NODE_DEBUG=http prints those, and the key is a header.
  for (const [name, value] of headers) outgoing.setHeader(name, value);
  outgoing.setHeader("content-length", body.length);
  return outgoing;
}

/** Nothing else of the environment: NODE_DEBUG=http prints an agent's options. */
const proxyVariables = (environment: OneRequest["environment"]): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => /^(?:https?|no)_proxy$/i.test(name)));

/** Rejects with the first error of the request, at whatever stage. */
function failureOf(outgoing: ClientRequest): Promise<never> {
  const failed = new Promise<never>((_resolve, reject) => {
    outgoing.on("error", reject);
    outgoing.once("close", () => reject(new Error("The connection was closed.")));
  });
  // Raced at several stages, and at none of them when it comes late.
  failed.catch(() => undefined);
  return failed;
}

async function beforeBytes(
  outgoing: ClientRequest,
  failed: Promise<never>,
  { url, checkBeforeSending }: OneRequest,
): Promise<AppError | undefined> {
  const late = Object.assign(new Error("The connection took too long."), { code: "ETIMEDOUT", syscall: "connect" });
  const timer = setTimeout(() => outgoing.destroy(late), CONNECT_MS);
  try {
    await Promise.race([connected(outgoing), failed]).finally(() => clearTimeout(timer));
    const refusal = await Promise.race([checkBeforeSending(), failed]);
    if (outgoing.destroyed) await failed;
    return refusal;
  } catch (error) {
    throw new NotSent(error, url.host);
  }
}

/** Never settles when the connection fails. */
async function connected(outgoing: ClientRequest): Promise<void> {
  const socket = await new Promise<Socket>((resolve) => void outgoing.once("socket", resolve));
  const isSecure = socket instanceof TLSSocket;
  // Behind a proxy the handshake is over by now; Node does not announce it again.
  const isPending = socket.connecting || (isSecure && isHandshaking(socket));
  if (isPending)
    await new Promise<void>((resolve) => void socket.once(isSecure ? "secureConnect" : "connect", resolve));
}

/** Not in Node's types. */
const isHandshaking = (socket: TLSSocket): boolean => "secureConnecting" in socket && socket.secureConnecting === true;

async function readAnswer(incoming: IncomingMessage, { maxAnswerBytes }: OneRequest): Promise<Answer> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of await decoded(incoming, headers.get("content-encoding"))) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    if (bytes > maxAnswerBytes) throw new AnswerTooLong(maxAnswerBytes);
    chunks.push(piece);
  }
  return { status: incoming.statusCode ?? 0, headers, text: Buffer.concat(chunks).toString() };
}

async function decoded(incoming: IncomingMessage, encoding: string | null): Promise<Readable> {
  if (encoding === null || encoding === "identity") return incoming;
  const { createBrotliDecompress, createUnzip } = await import("node:zlib");
  const decoder = encoding === "br" ? createBrotliDecompress() : createUnzip();
  incoming.on("error", (error) => decoder.destroy(error));
  return incoming.pipe(decoder);
}
