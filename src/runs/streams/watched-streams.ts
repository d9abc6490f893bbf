/** Manages the progress streams of watched runs: one per run, limited in number, kept open between two calls. */

import { isIdle, type Run } from "../run.ts";
import type { WatchedRun } from "./stream.ts";

/** Google limits concurrent connections; a run without a stream still gets its progress from polls. */
const MAX_STREAMS = 32;
/** A client that waits for a run calls again within seconds; reopening the stream each time would replay it. */
const LINGER_MS = 120_000;

interface Stream {
  watchers: number;
  closing: AbortController;
  lingering: NodeJS.Timeout | undefined;
}

interface StreamOptions {
  /** Follows the stream until it ends or the signal is aborted. */
  follow: (run: WatchedRun, signal: AbortSignal) => Promise<void>;
  /** Called when a stream was opened or has ended. */
  onChange: () => void;
  /** Aborted when the process begins to shut down. */
  leaving: AbortSignal;
  lingerMs?: number;
}

/** Returns a function that the caller must call to stop watching; undefined when all streams are in use. */
export type Watch = (run: WatchedRun) => (() => void) | undefined;

export function createWatchedStreams({ follow, onChange, leaving, lingerMs = LINGER_MS }: StreamOptions): Watch {
  /** Keyed by interaction id, because a restarted run has a new one; ordered by last use. */
  const streams = new Map<string, Stream>();

  const close = (interactionId: string, stream: Stream): void => {
    if (streams.get(interactionId) === stream) streams.delete(interactionId);
    clearTimeout(stream.lingering);
    stream.closing.abort();
  };

  const open = (run: WatchedRun): Stream | undefined => {
    if (streams.size >= MAX_STREAMS) {
      const unwatched = [...streams].find(([, { watchers }]) => watchers === 0);
      if (unwatched === undefined) return undefined;
      close(...unwatched);
    }
    const stream: Stream = { watchers: 0, closing: new AbortController(), lingering: undefined };
    const signal = AbortSignal.any([leaving, stream.closing.signal]);
    void follow(run, signal).finally(() => {
      close(run.interactionId, stream);
      onChange();
    });
    onChange();
    return stream;
  };

  return (run) => {
    const { interactionId } = run;
    const stream = streams.get(interactionId) ?? open(run);
    if (stream === undefined) return undefined;
    streams.delete(interactionId);
    streams.set(interactionId, stream);
    clearTimeout(stream.lingering);
    stream.watchers += 1;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      stream.watchers -= 1;
      if (stream.watchers === 0) {
        stream.lingering = setTimeout(() => close(interactionId, stream), lingerMs).unref();
      }
    };
  };
}

/** Streams the progress of a run that has not finished; the returned function stops watching. */
export function watchProgress({ watch }: { watch: Watch }, run: Run): () => void {
  const { interactionId, status } = run;
  if (interactionId === undefined || isIdle(status)) return () => {};
  return watch({ ...run, interactionId }) ?? (() => {});
}
