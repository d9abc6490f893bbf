/** A fetch for requests with an API key: redirects are not followed, size and time are limited. */

import { AsyncLocalStorage } from "node:async_hooks";
import { AppError } from "../../errors.ts";

export type Fetch = typeof fetch;

/**
 * The abort signal of the current operation. The SDK passes its signal on in a copy of the Request; once that copy is
 * garbage-collected, an abort no longer reaches Node's fetch, and a slowly dripping body would be read forever.
 */
const activeSignal = new AsyncLocalStorage<AbortSignal>();

/** The largest interaction seen had 1.3 MB. With twice this limit, a stream of small events needed over 300 MB of memory. */
export const MAX_RESPONSE_BYTES = 16 * 1_024 * 1_024;
/** The SDK rescans the buffered event for every chunk: an unterminated event of 32 MB took 45 s. */
const MAX_EVENT_BYTES = 4 * 1_024 * 1_024;

export function guardedFetch(fetcher: Fetch, maxBytes = MAX_RESPONSE_BYTES): Fetch {
  return async (input, init) => {
    const signal = activeSignal.getStore();
    // Following a redirect would send the key to another host.
    const guarded = untimed({ ...init, redirect: "manual" as const, ...(signal !== undefined && { signal }) });
    const response = await fetcher(input, guarded);
    return limitResponse(response, { maxBytes });
  };
}

/** A timer that fires this late means that the process was suspended, not just busy. */
const SUSPENDED_AFTER_MS = 1_000;
/** Time after a suspension to read a response that arrived in the socket meanwhile. */
const RESUME_GRACE_MS = 10_000;

/**
 * Calls `abort` after `ms`. A process that was suspended (SIGSTOP, docker pause) runs its timers before it reads its
 * sockets, and would discard a response that had arrived long before; so a late timer first lets sockets be read.
 */
function abortAfter(ms: number, abort: () => void): { clear(): void } {
  let timer: NodeJS.Timeout;
  let pending: NodeJS.Immediate | undefined;
  const arm = (wait: number): void => {
    const due = performance.now() + wait;
    timer = setTimeout(() => {
      if (performance.now() - due > SUSPENDED_AFTER_MS) arm(RESUME_GRACE_MS);
      else pending = setImmediate(abort);
    }, wait);
  };
  arm(ms);
  return {
    clear: () => {
      clearTimeout(timer);
      clearImmediate(pending);
    },
  };
}

/** Runs `work` with a time limit. Not with AbortSignal.timeout: the SDK retries after that. */
export async function withTimeLimit<T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const limit = abortAfter(ms, abort);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await activeSignal.run(controller.signal, () => work(controller.signal));
  } finally {
    limit.clear();
    signal.removeEventListener("abort", abort);
  }
}

/**
 * Adds Node's global dispatcher without its own time limits, which end a request after five minutes without data. The
 * SDK adds the same for a fetch that is not ours. Looked up for each request, because the proxy may replace it.
 */
const untimed = <Init extends object>(init: Init): Init =>
  Object.assign(init, {
    dispatcher: {
      dispatch: (options: object, handler: unknown): boolean =>
        globalDispatcher().dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
    },
  });

const globalDispatcher = (): { dispatch(options: object, handler: unknown): boolean } =>
  Reflect.get(globalThis, Symbol.for("undici.globalDispatcher.1"));

/** No genuine response of Google's is that large. */
export class ResponseTooLarge extends AppError {
  constructor(maxBytes: number) {
    super({
      code: "EXECUTION_ERROR",
      message: `Google's answer was larger than ${Math.round(maxBytes / 1_024 / 1_024)} MB and was discarded.`,
      suggestion: "Ask a narrower question; check GOOGLE_GEMINI_BASE_URL if it is set.",
      reason: "no_answer",
    });
    this.name = "ResponseTooLarge";
  }
}

interface Limits {
  maxBytes: number;
  maxEventBytes: number;
}

/** Bytes are counted after decompression, because a declared length cannot be trusted. */
export async function limitResponse(
  response: Response,
  { maxBytes = MAX_RESPONSE_BYTES, maxEventBytes = MAX_EVENT_BYTES } = {},
): Promise<Response> {
  if (response.body === null) return response;
  const isStream = response.headers.get("content-type")?.includes("event-stream") === true;
  if (isStream) return withCountedBody(response, { maxBytes, maxEventBytes });
  // Read at once: counting in a stream would take a fifth of a poll's processor time.
  const bytes = await readBytes(response.body, maxBytes);
  const { status, statusText, headers } = response;
  return new Response(bytes, { status, statusText, headers });
}

async function readBytes(body: NonNullable<Response["body"]>, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks, length);
    length += value.length;
    if (length > maxBytes) {
      const error = new ResponseTooLarge(maxBytes);
      // Not awaited: it settles only when the connection is closed.
      void reader.cancel(error).catch(() => undefined);
      throw error;
    }
    chunks.push(value);
  }
}

function withCountedBody(response: Response, { maxBytes, maxEventBytes }: Limits): Response {
  let [bytes, event] = [0, 0];
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      event = bytesAfterLastEvent(chunk) ?? event + chunk.length;
      if (bytes > maxBytes || event > maxEventBytes)
        controller.error(new ResponseTooLarge(bytes > maxBytes ? maxBytes : maxEventBytes));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body?.pipeThrough(counting), { status, statusText, headers });
}

/** Bytes after the last blank line, which ends an event; undefined without one. */
function bytesAfterLastEvent(chunk: Uint8Array): number | undefined {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const last = Math.max(text.lastIndexOf("\n\n"), text.lastIndexOf("\r\n\r\n"));
  return last === -1 ? undefined : chunk.length - last;
}
