/** The server's live events: one stream per tab for all that listen, closed while nobody looks, resumed where it was. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { LiveEvents } from "../../wire.ts";
import { ask } from "../app/request.ts";
import { readEvents, type StreamRefusal } from "./event-reader.ts";

type Handlers = { [Name in keyof LiveEvents]?: (data: LiveEvents[Name]) => void };

const REOPEN_MS = 1_000;
const TRY_AGAIN_MS = 2_000;
const MAX_WAIT_MS = 60_000;
/** One view leaves and the next comes: that is one new stream, not two. */
const SETTLE_MS = 30;

export interface Watched {
  taskId: string;
  /** The last timeline entry that is known; the stream goes on after it. */
  after: number;
}

interface Listener {
  handlers: { current: Handlers };
  watched: Watched | undefined;
  hear: (connection: Connection) => void;
}

/** Away: it was lost, and has not come back yet. Refused: the server is there, and says why it opens none. */
type Connection = "opening" | "open" | "away" | { refused: string };

const listeners = new Set<Listener>();
let connection: Connection = "opening";
/** Closes the open stream. */
let stream: (() => void) | undefined;
let streamOf: Watched | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Whether the server is there to be heard; the handlers of the latest rendering are the ones that hear. */
export function useLive(handlers: Handlers, watched?: Watched): boolean {
  return useConnection(handlers, watched) === "open";
}

export function useConnection(handlers: Handlers, watched?: Watched): Connection {
  const [now, hear] = useState(connection);
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(
    () => listen({ handlers: latest, watched, hear }),
    // The stream resumes by itself; only another run needs another stream.
    [watched?.taskId],
  );
  return now;
}

function listen(listener: Listener): () => void {
  if (listeners.size === 0) document.addEventListener("visibilitychange", open);
  listeners.add(listener);
  listener.hear(connection);
  settleSoon();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) document.removeEventListener("visibilitychange", open);
    settleSoon();
  };
}

function settleSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const wanted = watchedNow();
    if (stream === undefined || listeners.size === 0 || wanted?.taskId !== streamOf?.taskId) open();
  }, SETTLE_MS);
}

const watchedNow = (): Watched | undefined =>
  [...listeners].map(({ watched }) => watched).findLast((watched) => watched !== undefined);

function close(): void {
  clearTimeout(timer);
  stream?.();
  stream = undefined;
}

function open(): void {
  close();
  // A hidden tab would keep one of the browser's few connections.
  if (document.hidden || listeners.size === 0) return;
  const wanted = watchedNow();
  if (wanted === undefined || wanted.taskId !== streamOf?.taskId) streamOf = wanted && { ...wanted };
  const query = streamOf === undefined ? "" : `?run=${streamOf.taskId}&after=${streamOf.after}`;
  stream = readEvents(`/api/live${query}`, {
    opened: () => tell("open"),
    received: pass,
    lost: (refusal) => {
      stream = undefined;
      if (refusal === undefined) {
        tell("away");
        timer = setTimeout(open, REOPEN_MS);
      } else waitAfter(refusal);
    },
  });
}

function waitAfter({ status, message, retryMs }: StreamRefusal): void {
  const again = status === 401 ? (): void => void tryAgain() : open;
  tell(message === undefined || status === 401 ? "away" : { refused: message });
  timer = setTimeout(again, Math.min(Math.max(TRY_AGAIN_MS, retryMs), MAX_WAIT_MS));
}

/** Whoever was signed out learns it from a plain request. */
async function tryAgain(): Promise<void> {
  await ask("/api/runs?limit=1").catch(() => {});
  open();
}

function pass(name: string, data: unknown, id: string): void {
  if (name === "timeline" && streamOf !== undefined) streamOf.after = Number(id);
  for (const { handlers } of listeners) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wire.ts is the contract of both sides
    const handler = handlers.current[name as keyof LiveEvents] as ((data: unknown) => void) | undefined;
    handler?.(data);
  }
}

function tell(next: Connection): void {
  connection = next;
  for (const { hear } of listeners) hear(next);
}
