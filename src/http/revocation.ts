/**
 * Ends event streams within a second of their token or session ceasing to be valid: one check for all open streams. A
 * token is revoked by another process and expires by itself, which the change feed of runs does not report.
 */

import { isEventStream } from "../mcp/http/responses.ts";
import type { Credential } from "./browser/sessions.ts";

const CHECK_EVERY_MS = 500;

export interface RevocationOptions {
  /** Those of the given credentials that are no longer valid; called once per interval for all streams together. */
  findRevoked: (credentials: readonly Credential[]) => Promise<ReadonlySet<Credential>>;
  checkEveryMs?: number;
}

/** Returns the response with its stream, if it is one, bound to the credential. */
export type EndWhenRevoked = (response: Response, credential: Credential | undefined) => Response;

interface OpenStream {
  credential: Credential;
  end: () => void;
}

export function createEndWhenRevoked(options: RevocationOptions): EndWhenRevoked {
  const streams = new Set<OpenStream>();
  const check = createCheck(streams, options);
  let timer: NodeJS.Timeout | undefined;
  const remove = (stream: OpenStream): void => {
    streams.delete(stream);
    if (streams.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return (response, credential) => {
    const { body, status, headers } = response;
    if (credential === undefined || body === null || !isEventStream(response)) return response;
    const stream: OpenStream = { credential, end: () => {} };
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
      // Ends the response and cancels its source. A response that fails is printed to stderr by @hono/node-server.
      start: (controller) => void (stream.end = () => controller.terminate()),
    });
    streams.add(stream);
    timer ??= setInterval(() => void check(), options.checkEveryMs ?? CHECK_EVERY_MS).unref();
    const ended = (): void => remove(stream);
    body.pipeTo(writable).then(ended, ended);
    return new Response(readable, { status, headers });
  };
}

function createCheck(streams: ReadonlySet<OpenStream>, { findRevoked }: RevocationOptions): () => Promise<void> {
  let isChecking = false;
  return async () => {
    if (isChecking) return;
    isChecking = true;
    // A busy database is no reason to end a stream: the next check follows in half a second.
    const revoked = await findRevoked([...streams].map(({ credential }) => credential)).catch(
      () => new Set<Credential>(),
    );
    isChecking = false;
    for (const { credential, end } of streams) {
      if (revoked.has(credential)) end();
    }
  };
}
