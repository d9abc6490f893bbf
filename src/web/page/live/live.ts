/**
 * The live event stream: one per tab for all components, closed while the tab is hidden, and resumed where it ended.
 */

import { useEffect, useRef, useState } from "preact/hooks";
import type { LiveEvents } from "../../wire.ts";
import { fetchJson } from "../app/request.ts";
import { readEvents, type StreamRefusal } from "./event-reader.ts";

type Handlers = { [Name in keyof LiveEvents]?: (data: LiveEvents[Name]) => void };

const RECONNECT_MS = 1_000;
const MIN_RETRY_MS = 2_000;
const MAX_RETRY_MS = 60_000;
/** Replacing one view by another opens one new stream, not two. */
const UPDATE_DELAY_MS = 30;

export interface Watched {
  taskId: string;
  /** The last known timeline entry, after which the stream resumes. */
  after: number;
}

interface Listener {
  handlers: { current: Handlers };
  watched: Watched | undefined;
  onConnection: (connection: Connection) => void;
}

/** `lost`: disconnected. `refused`: the server responds, but rejects the stream for this reason. */
type Connection = "opening" | "open" | "lost" | { refused: string };

const listeners = new Set<Listener>();
let connection: Connection = "opening";
/** Closes the open stream. */
let stream: (() => void) | undefined;
let streamOf: Watched | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Returns whether the stream is open. Events go to the handlers of the latest rendering. */
export function useLive(handlers: Handlers, watched?: Watched): boolean {
  return useConnection(handlers, watched) === "open";
}

export function useConnection(handlers: Handlers, watched?: Watched): Connection {
  const [now, onConnection] = useState(connection);
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(
    () => listen({ handlers: latest, watched, onConnection }),
    // The stream resumes automatically; only another run needs a new stream.
    [watched?.taskId],
  );
  return now;
}

function listen(listener: Listener): () => void {
  if (listeners.size === 0) document.addEventListener("visibilitychange", open);
  listeners.add(listener);
  listener.onConnection(connection);
  scheduleUpdate();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) document.removeEventListener("visibilitychange", open);
    scheduleUpdate();
  };
}

function scheduleUpdate(): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const wanted = watchedNow();
    if (stream === undefined || listeners.size === 0 || wanted?.taskId !== streamOf?.taskId) open();
  }, UPDATE_DELAY_MS);
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
  // A hidden tab would occupy one of the browser's few connections.
  if (document.hidden || listeners.size === 0) return;
  const wanted = watchedNow();
  if (wanted === undefined || wanted.taskId !== streamOf?.taskId) streamOf = wanted && { ...wanted };
  const query = streamOf === undefined ? "" : `?run=${streamOf.taskId}&after=${streamOf.after}`;
  stream = readEvents(`/api/live${query}`, {
    opened: () => setConnection("open"),
    received: dispatch,
    lost: (refusal) => {
      stream = undefined;
      if (refusal === undefined) {
        setConnection("lost");
        timer = setTimeout(open, RECONNECT_MS);
      } else retryAfter(refusal);
    },
  });
}

function retryAfter({ status, message, retryMs }: StreamRefusal): void {
  const retry = status === 401 ? (): void => void checkSessionAndOpen() : open;
  setConnection(message === undefined || status === 401 ? "lost" : { refused: message });
  timer = setTimeout(retry, Math.min(Math.max(MIN_RETRY_MS, retryMs), MAX_RETRY_MS));
}

/** A regular request detects that the user was signed out. */
async function checkSessionAndOpen(): Promise<void> {
  await fetchJson("/api/runs?limit=1").catch(() => {});
  open();
}

function dispatch(name: string, data: unknown, id: string): void {
  if (name === "timeline" && streamOf !== undefined) streamOf.after = Number(id);
  for (const { handlers } of listeners) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wire.ts is the contract of both sides
    const handler = handlers.current[name as keyof LiveEvents] as ((data: unknown) => void) | undefined;
    handler?.(data);
  }
}

/** Passes on an event that this page knows of before the server has sent it. */
export const receive = <Name extends keyof LiveEvents>(name: Name, data: LiveEvents[Name]): void =>
  dispatch(name, data, "");

function setConnection(next: Connection): void {
  connection = next;
  for (const { onConnection } of listeners) onConnection(next);
}
