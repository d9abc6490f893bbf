/** Limits the size of responses, and keeps requests with an API key from following redirects. */

import { AppError } from "../../errors.ts";
import { observedRequest } from "./request-telemetry.ts";

/** The largest interaction seen had 1.3 MB. With twice this limit, a stream of small events needed over 300 MB of memory. */
export const MAX_RESPONSE_BYTES = 16 * 1_024 * 1_024;

/** The SDK rescans the buffered event for every chunk: an unterminated event of 32 MB took 45 s. */
const MAX_EVENT_BYTES = 4 * 1_024 * 1_024;

let isInstalled = false;

/**
 * Replaces the global fetch, because Google's SDK skips its own connection set-up when it is given another fetch.
 * Bytes are counted after decompression, because a declared length cannot be trusted.
 */
export function limitGlobalFetch(): void {
  if (isInstalled) return;
  isInstalled = true;
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    // Following a redirect would send the key to another host.
    const guard = carries(KEY_HEADER, input, init) ? { redirect: "manual" as const } : {};
    const send = (): Promise<Response> => fetch(input, { ...init, ...guard });
    return limitResponse(await (carries(SDK_HEADER, input, init) ? observedRequest(input, init, send) : send()));
  };
}

const KEY_HEADER = "x-goog-api-key";
/** Sent with every request of Google's SDK, and by nothing else in this process. */
const SDK_HEADER = "x-goog-api-client";

const carries = (header: string, input: Parameters<typeof fetch>[0], init: RequestInit | undefined): boolean =>
  new Headers(init?.headers ?? (input instanceof Request ? input.headers : {})).has(header);

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

/** A response may pass through two limits: the client's own fetch and the global one. It is limited once. */
const LIMITED = new WeakSet<Response>();

interface Limits {
  maxBytes: number;
  maxEventBytes: number;
}

export function limitResponse(
  response: Response,
  { maxBytes = MAX_RESPONSE_BYTES, maxEventBytes = MAX_EVENT_BYTES } = {},
): Response {
  if (LIMITED.has(response) || response.body === null) return response;
  const isStream = response.headers.get("content-type")?.includes("event-stream") === true;
  if (isStream) return withCountedBody(response, { maxBytes, maxEventBytes });
  return withLimitedReaders(response, response.body, { maxBytes, maxEventBytes: maxBytes });
}

/**
 * Replaces the readers of a response by limited ones. `text` and `json`, which the SDK uses, read the body directly:
 * piping it through another stream would take a fifth of a poll's processor time. All other readers use that stream.
 */
function withLimitedReaders(response: Response, body: NonNullable<Response["body"]>, limits: Limits): Response {
  let piped: Response | undefined;
  const asStream = (): Response => (piped ??= withCountedBody(new Response(body, response), limits));
  const text = (): Promise<string> => (piped === undefined ? readText(body, limits.maxBytes) : piped.text());
  LIMITED.add(response);
  return Object.defineProperties(response, {
    text: { value: text },
    json: { value: async (): Promise<unknown> => JSON.parse(await text()) },
    body: { get: () => asStream().body },
    bytes: { value: () => asStream().bytes() },
    arrayBuffer: { value: () => asStream().arrayBuffer() },
    blob: { value: () => asStream().blob() },
    formData: { value: () => asStream().formData() },
    clone: { value: () => asStream().clone() },
  });
}

async function readText(body: NonNullable<Response["body"]>, maxBytes: number): Promise<string> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new TextDecoder().decode(Buffer.concat(chunks, length));
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
