/** One POST request with JSON through the address guard, for webhooks: no redirect is followed, little of the answer read. */

import type { IncomingMessage } from "node:http";
import { checkUrl, type Network, publicNetwork, RefusedError } from "../guard/dial.ts";
import { exchange, failedOutcome, isCertificateFault, PROGRAM } from "./request.ts";

interface PostRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Any address, and http: the operator of this machine has entered it. */
  isPrivate: boolean;
}

export type Posted =
  | { kind: "answered"; status: number; text: string }
  /** `reason` is a sentence of this program. */
  | { kind: "failed"; cause: "refused" | "timeout" | "certificate" | "connection"; reason: string };

export type Post = (request: PostRequest, signal: AbortSignal) => Promise<Posted>;

const TIMEOUT_MS = 15_000;
/** Of an answer, whose only content of interest is a short challenge. */
const MAX_ANSWER_BYTES = 4_096;
const MAX_HEADER_BYTES = 16_384;

/** Throws `RefusedError` for an address that is never sent anything; one that leads to a private network shows when it is dialled. */
export function checkTarget(url: string, isPrivate: boolean): void {
  const { isTls } = checkUrl(url, { isPrivate });
  if (!isTls && !isPrivate) throw new RefusedError("insecure");
}

/** The promise rejects only if the signal is aborted. */
export const createPost =
  (network: Network = publicNetwork): Post =>
  async (request, signal) => {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    try {
      return await post(request, network, AbortSignal.any([signal, timeout]));
    } catch (error) {
      signal.throwIfAborted();
      return failureOf(timeout.aborted ? timeout.reason : error);
    }
  };

async function post(
  { url: address, headers, body, isPrivate }: PostRequest,
  network: Network,
  signal: AbortSignal,
): Promise<Posted> {
  checkTarget(address, isPrivate);
  const sending = {
    network: isPrivate ? { ...network, isPublic: () => true } : network,
    body,
    headers: { ...headers, "User-Agent": PROGRAM, "Content-Length": String(Buffer.byteLength(body)) },
    maxHeaderSize: MAX_HEADER_BYTES,
    signal,
  };
  return exchange(checkUrl(address, { isPrivate }), sending, async (response) => ({
    kind: "answered",
    status: response.statusCode ?? 0,
    text: await beginningOf(response),
  }));
}

/** The status counts, however the body ends. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response) {
      const piece = Buffer.from(chunk);
      chunks.push(piece);
      bytes += piece.length;
      if (bytes > MAX_ANSWER_BYTES) break;
    }
  } catch {
    // What has arrived is enough.
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString("utf8");
}

function failureOf(error: unknown): Posted {
  const outcome = failedOutcome(error);
  const reason = "reason" in outcome ? outcome.reason : "The host could not be reached.";
  if (error instanceof RefusedError) return { kind: "failed", cause: "refused", reason };
  if (isCertificateFault(error)) return { kind: "failed", cause: "certificate", reason };
  const isTimeout = error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError");
  return { kind: "failed", cause: isTimeout ? "timeout" : "connection", reason };
}
