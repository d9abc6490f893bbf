/** What every request to Google keeps to: its answer takes a bounded part of our memory, its key goes nowhere else. */

import { AppError } from "../../errors.ts";
import { observedRequest } from "./request-telemetry.ts";

/** The largest interaction seen had 1.3 MB. With twice as much a stream of small events took us over 300 MB. */
export const MOST_BYTES = 16 * 1_024 * 1_024;

/** The SDK looks through all it has of an event with every piece that comes: 32 MB without an end took it 45 s. */
const MOST_EVENT_BYTES = 4 * 1_024 * 1_024;

let bound = false;

/**
 * For the whole process, because Google's SDK gives up its own set-up of connections for a fetch of ours. Counted
 * after unpacking: what a server declares is its word only.
 */
export function boundFetch(): void {
  if (bound) return;
  bound = true;
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    // Fetch would take the key along to wherever it is sent.
    const guard = carries(KEY_HEADER, input, init) ? { redirect: "manual" as const } : {};
    const send = (): Promise<Response> => fetch(input, { ...init, ...guard });
    return bounded(await (carries(SDK_HEADER, input, init) ? observedRequest(input, init, send) : send()));
  };
}

const KEY_HEADER = "x-goog-api-key";
/** On every request of Google's SDK, and of nobody else who fetches in this process. */
const SDK_HEADER = "x-goog-api-client";

const carries = (header: string, input: Parameters<typeof fetch>[0], init: RequestInit | undefined): boolean =>
  new Headers(init?.headers ?? (input instanceof Request ? input.headers : {})).has(header);

/** Nothing of Google's is that long: whoever answers is not Google, or out of order. */
export class AnswerTooLong extends AppError {
  constructor(mostBytes: number) {
    super({
      code: "EXECUTION_ERROR",
      message: `Google's answer had more than ${Math.round(mostBytes / 1_024 / 1_024)} MB and was dropped.`,
      suggestion: "Ask a narrower question; check GOOGLE_GEMINI_BASE_URL if it is set.",
      reason: "no_answer",
    });
    this.name = "AnswerTooLong";
  }
}

/** A request may pass two of us: the one of its client, and the one that all of the process have. */
const BOUNDED = new WeakSet<Response>();

interface Limits {
  most: number;
  mostInEvent: number;
}

export function bounded(response: Response, { most = MOST_BYTES, mostInEvent = MOST_EVENT_BYTES } = {}): Response {
  if (BOUNDED.has(response) || response.body === null) return response;
  const isStream = response.headers.get("content-type")?.includes("event-stream") === true;
  if (isStream) return counted(response, { most, mostInEvent });
  return readBounded(response, response.body, { most, mostInEvent: most });
}

/**
 * The same response, whose text is read and counted here when it is asked for as a whole, as the SDK does: sent through
 * another stream, an answer takes a fifth of the processor time of a poll. Whatever else is asked goes that way.
 */
function readBounded(response: Response, body: NonNullable<Response["body"]>, limits: Limits): Response {
  let long: Response | undefined;
  const asStream = (): Response => (long ??= counted(new Response(body, response), limits));
  const text = (): Promise<string> => (long === undefined ? readText(body, limits.most) : long.text());
  BOUNDED.add(response);
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

async function readText(body: NonNullable<Response["body"]>, mostBytes: number): Promise<string> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new TextDecoder().decode(Buffer.concat(chunks, length));
    length += value.length;
    if (length > mostBytes) {
      const tooLong = new AnswerTooLong(mostBytes);
      // Not awaited: it ends when the connection does.
      void reader.cancel(tooLong).catch(() => undefined);
      throw tooLong;
    }
    chunks.push(value);
  }
}

function counted(response: Response, { most, mostInEvent }: Limits): Response {
  let [bytes, event] = [0, 0];
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      event = sinceLastEvent(chunk) ?? event + chunk.length;
      if (bytes > most || event > mostInEvent) controller.error(new AnswerTooLong(bytes > most ? most : mostInEvent));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body?.pipeThrough(counting), { status, statusText, headers });
}

/** How much of an event stands after the last blank line; undefined where there is none. */
function sinceLastEvent(chunk: Uint8Array): number | undefined {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const last = Math.max(text.lastIndexOf("\n\n"), text.lastIndexOf("\r\n\r\n"));
  return last === -1 ? undefined : chunk.length - last;
}
