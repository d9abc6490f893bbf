/** What every request to Google keeps to: its answer takes a bounded part of our memory, its key goes nowhere else. */

import { AppError } from "../errors.ts";
import { observedRequest } from "./observed-request.ts";

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

export function bounded(response: Response, { most = MOST_BYTES, mostInEvent = MOST_EVENT_BYTES } = {}): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get("content-type")?.includes("event-stream") === true;
  let [bytes, event] = [0, 0];
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      const begun = sinceLastEvent(chunk);
      event = begun ?? event + chunk.length;
      if (bytes > most || (isStream && event > mostInEvent))
        controller.error(new AnswerTooLong(bytes > most ? most : mostInEvent));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counting), { status, statusText, headers });
}

/** How much of an event stands after the last blank line; undefined where there is none. */
function sinceLastEvent(chunk: Uint8Array): number | undefined {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const last = Math.max(text.lastIndexOf("\n\n"), text.lastIndexOf("\r\n\r\n"));
  return last === -1 ? undefined : chunk.length - last;
}
