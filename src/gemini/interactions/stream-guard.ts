/** Watches the bytes of an event stream: silence ends it, and an error body between its events is noticed. */

import { AsyncLocalStorage } from "node:async_hooks";

/** `idle`: no byte for too long. `error_body`: JSON where an event should be, which the SDK skips without a word. */
export type StreamFault = "idle" | "error_body";

type Fetch = typeof fetch;

/** Where faults of the streams that are opened inside are reported. */
const reports = new AsyncLocalStorage<(fault: StreamFault) => void>();

export const reportingFaults = <T>(report: (fault: StreamFault) => void, work: () => Promise<T>): Promise<T> =>
  reports.run(report, work);

export function withStreamGuard(fetcher: Fetch, idleMs: number): Fetch {
  return async (input, init) => {
    const response = await fetcher(input, init);
    const isStream = response.headers.get("content-type")?.includes("event-stream") === true;
    return isStream ? guarded(response, idleMs, reports.getStore() ?? (() => {})) : response;
  };
}

const LINE_FEED = 0x0a;
/** No line of an event stream begins with one of these; every error body does. */
const OPENING = new Set([0x7b, 0x5b]);

function guarded(response: Response, idleMs: number, report: (fault: StreamFault) => void): Response {
  if (response.body === null) return response;
  let timer: NodeJS.Timeout | undefined;
  let atLineStart = true;
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => restart(controller),
    transform: (chunk, controller) => {
      restart(controller);
      const place = foreignAt(chunk, atLineStart);
      atLineStart = chunk.at(-1) === LINE_FEED;
      if (place === undefined) return controller.enqueue(chunk);
      // What came before it is good. Closing, not failing: a failure would drop it.
      controller.enqueue(chunk.subarray(0, place));
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

/** Where a line begins that is no event's. */
function foreignAt(chunk: Uint8Array, atLineStart: boolean): number | undefined {
  if (atLineStart && OPENING.has(chunk[0] ?? 0)) return 0;
  for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, end + 1)) {
    if (OPENING.has(chunk[end + 1] ?? 0)) return end + 1;
  }
  return undefined;
}
