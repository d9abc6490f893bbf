/** Server-sent events to one client with a bounded buffer: a client that lags misses events that it can refetch. */

export interface EventSink {
  /** Returns false if the client lags and the event was dropped. */
  send(name: string, data: unknown, id?: number): boolean;
  /** Sends a comment, which keeps proxies from closing an idle connection. */
  heartbeat(): void;
}

export interface EventStreamOptions {
  /** Called at once; the returned function is called when the stream ends. */
  onStart: (sink: EventSink) => () => void;
  /** Called when a client that lagged has read everything in the buffer. */
  onCaughtUp: (sink: EventSink) => void;
  /** Ends the stream when aborted. */
  signal: AbortSignal;
  /** Called once, however the stream ends. */
  onEnd: () => void;
}

const MAX_BUFFERED_BYTES = 256 * 1024;
/** How soon a browser reconnects after its stream was cut. */
const RETRY_MS = 1_000;

export function eventStream(options: EventStreamOptions): ReadableStream<Uint8Array> {
  const { onStart, onCaughtUp, signal, onEnd } = options;
  const encoder = new TextEncoder();
  let finish = (): void => {};
  let sink: EventSink | undefined;
  let isLagging = false;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        let hasEnded = false;
        const write = (text: string): boolean => {
          if (hasEnded) return false;
          isLagging ||= (controller.desiredSize ?? 0) <= 0;
          if (!isLagging) controller.enqueue(encoder.encode(text));
          return !isLagging;
        };
        sink = {
          send: (name, data, id) =>
            write(`event: ${name}\ndata: ${JSON.stringify(data)}\n${id === undefined ? "" : `id: ${id}\n`}\n`),
          heartbeat: () => void write(":\n\n"),
        };
        write(`retry: ${RETRY_MS}\n\n`);
        const stop = onStart(sink);
        const close = (): void => {
          finish();
          controller.close();
        };
        finish = () => {
          if (hasEnded) return;
          hasEnded = true;
          signal.removeEventListener("abort", close);
          stop();
          onEnd();
        };
        if (signal.aborted) close();
        else signal.addEventListener("abort", close);
      },
      // Called when the buffer has room again.
      pull: () => {
        if (!isLagging || sink === undefined) return;
        isLagging = false;
        onCaughtUp(sink);
      },
      cancel: () => finish(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_BUFFERED_BYTES }),
  );
}
