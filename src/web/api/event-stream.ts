/** Server-sent events to one reader, in bounded memory: who does not read in time misses what it can ask for again. */

export interface Outlet {
  /** False: the reader lags, and this was not said. */
  send(name: string, data: unknown, id?: number): boolean;
  /** Keeps the connection from looking dead. */
  beat(): void;
}

export interface EventStreamOptions {
  /** Begins to speak; the returned function ends everything that was begun. */
  begin: (outlet: Outlet) => () => void;
  /** The reader lagged and has read all that was kept for it. */
  caughtUp: (outlet: Outlet) => void;
  /** Ends the stream when aborted. */
  until: AbortSignal;
  /** Called once, however it ends. */
  ended: () => void;
}

/** How much is kept for a slow reader. */
const MOST_BYTES = 256 * 1024;
/** How soon a browser whose stream was cut comes back. */
const RETRY_MS = 1_000;

export function eventStream({ begin, caughtUp, until, ended }: EventStreamOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let finish = (): void => {};
  let outlet: Outlet | undefined;
  let lagging = false;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        let over = false;
        const write = (text: string): boolean => {
          if (over) return false;
          lagging ||= (controller.desiredSize ?? 0) <= 0;
          if (!lagging) controller.enqueue(encoder.encode(text));
          return !lagging;
        };
        outlet = {
          send: (name, data, id) =>
            write(`event: ${name}\ndata: ${JSON.stringify(data)}\n${id === undefined ? "" : `id: ${id}\n`}\n`),
          beat: () => void write(":\n\n"),
        };
        write(`retry: ${RETRY_MS}\n\n`);
        const stop = begin(outlet);
        const close = (): void => {
          finish();
          controller.close();
        };
        finish = () => {
          if (over) return;
          over = true;
          until.removeEventListener("abort", close);
          stop();
          ended();
        };
        if (until.aborted) close();
        else until.addEventListener("abort", close);
      },
      // Asked for more: all that was kept is on its way.
      pull: () => {
        if (!lagging || outlet === undefined) return;
        lagging = false;
        caughtUp(outlet);
      },
      cancel: () => finish(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MOST_BYTES }),
  );
}
