/** Ends an event stream that is idle or contains a JSON error body, which the SDK would ignore. */

import type { Fetch } from "../transport/guarded-fetch.ts";

/** `idle`: no data for too long. `error_body`: a JSON body where an event should be. */
export type StreamFault = "idle" | "error_body";

interface StreamGuard {
  idleMs: number;
  report: (fault: StreamFault) => void;
}

export function withStreamGuard(fetcher: Fetch, guard: StreamGuard): Fetch {
  return async (input, init) => {
    const response = await fetcher(input, init);
    const isStream = response.headers.get("content-type")?.includes("event-stream") === true;
    return isStream ? guardBody(response, guard) : response;
  };
}

const LINE_FEED = 0x0a;
/** `{` and `[`: error bodies start with one of them, lines of an event stream never do. */
const JSON_OPENERS = new Set([0x7b, 0x5b]);

function guardBody(response: Response, { idleMs, report }: StreamGuard): Response {
  if (response.body === null) return response;
  let timer: NodeJS.Timeout | undefined;
  let atLineStart = true;
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => restart(controller),
    transform: (chunk, controller) => {
      restart(controller);
      const position = errorBodyStart(chunk, atLineStart);
      atLineStart = chunk.at(-1) === LINE_FEED;
      if (position === undefined) return controller.enqueue(chunk);
      // Ends the stream without an error, which would discard the events before the error body.
      controller.enqueue(chunk.subarray(0, position));
      end(controller, "error_body");
    },
    flush: () => clearTimeout(timer),
    cancel: () => clearTimeout(timer),
  });
  function restart(controller: TransformStreamDefaultController<Uint8Array>): void {
    clearTimeout(timer);
    timer = setTimeout(() => end(controller, "idle"), idleMs);
  }
  function end(controller: TransformStreamDefaultController<Uint8Array>, fault: StreamFault): void {
    clearTimeout(timer);
    report(fault);
    controller.terminate();
  }
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(watch), { status, statusText, headers });
}

/** The position of the first line that starts an error body. */
function errorBodyStart(chunk: Uint8Array, atLineStart: boolean): number | undefined {
  if (atLineStart && JSON_OPENERS.has(chunk[0] ?? 0)) return 0;
  for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, end + 1)) {
    if (JSON_OPENERS.has(chunk[end + 1] ?? 0)) return end + 1;
  }
  return undefined;
}
