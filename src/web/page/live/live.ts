/**
 * Live events for the components of this tab, while it is visible. One stream serves all visible tabs: over HTTP/1.1 a
 * browser has six connections to a server, and each stream takes one. The tab with the lock reads it and passes events
 * on; when it is hidden or closed, another one gets the lock.
 */

import { useEffect, useRef, useState } from "preact/hooks";
import { type LiveEvents, PAGE_SECRET_ITEM } from "../../wire.ts";
import { readStored } from "../app/browser-storage.ts";
import { SERVER_BACK } from "../app/request.ts";
import {
  type Connection,
  type Delivery,
  openSharedStream,
  type SharedStream,
  taskIdOf,
  type Watched,
} from "./shared-stream.ts";

type Handlers = { [Name in keyof LiveEvents]?: (data: LiveEvents[Name]) => void };

/** Replacing one view by another joins once, not twice. */
const UPDATE_DELAY_MS = 30;

interface Listener {
  handlers: { current: Handlers };
  watched: Watched | undefined;
  onConnection: (connection: Connection) => void;
}

const listeners = new Set<Listener>();
let connection: Connection = "opening";
/** The run that this tab watches, with its position in the timeline. */
let followed: Watched | undefined;
/** Undefined while this tab is hidden. */
let membership: AbortController | undefined;
/** Undefined while another tab reads it. */
let stream: SharedStream | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Returns the state of the stream. Events go to the handlers of the latest rendering. */
export function useLive(handlers: Handlers, watched?: Watched): Connection {
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
  if (listeners.size === 0) document.addEventListener("visibilitychange", update);
  listeners.add(listener);
  listener.onConnection(connection);
  scheduleUpdate();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) document.removeEventListener("visibilitychange", update);
    scheduleUpdate();
  };
}

function scheduleUpdate(): void {
  clearTimeout(timer);
  timer = setTimeout(update, UPDATE_DELAY_MS);
}

function update(): void {
  // What a hidden tab would show is loaded when it becomes visible.
  if (document.hidden || listeners.size === 0) return leave();
  const wanted = [...listeners].map(({ watched }) => watched).findLast((watched) => watched !== undefined);
  const isOther = wanted?.taskId !== followed?.taskId;
  if (isOther) followed = wanted && { ...wanted };
  if (membership === undefined) join();
  else if (isOther) announce();
}

const self = Math.random().toString(36);

type Message =
  | { join: string; watched: Watched | undefined }
  | { leave: string }
  | { leader: true }
  | { delivery: Delivery };

// Tabs of another session have another secret, so they receive nothing.
const NAME = `live ${readStored("localStorage", PAGE_SECRET_ITEM) ?? ""}`;
// Without TLS, browsers have locks on loopback only: elsewhere each tab has a stream of its own.
const locks = globalThis.isSecureContext ? navigator.locks : undefined;
const channel = locks === undefined ? undefined : new BroadcastChannel(NAME);
channel?.addEventListener("message", ({ data }: MessageEvent<Message>) => {
  if ("join" in data) stream?.join(data.join, data.watched);
  else if ("leave" in data) stream?.leave(data.leave);
  else if (membership === undefined) return;
  else if ("leader" in data) announce();
  else received(data.delivery);
});

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only
const post = (message: Message): void => channel?.postMessage(message);

function announce(): void {
  if (stream === undefined) post({ join: self, watched: followed });
  else stream.join(self, followed);
}

function join(): void {
  membership = new AbortController();
  if (locks === undefined) lead();
  else {
    announce();
    const { signal } = membership;
    const leadUntilHidden = async (): Promise<void> => {
      if (signal.aborted) return;
      lead();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    };
    // Rejected when this tab leaves before it got the lock.
    locks.request(NAME, { signal }, leadUntilHidden).catch(() => undefined);
  }
}

function lead(): void {
  stream = openSharedStream((delivery) => {
    received(delivery);
    post({ delivery });
  });
  announce();
  post({ leader: true });
}

function leave(): void {
  stream?.close();
  stream = undefined;
  post({ leave: self });
  membership?.abort();
  membership = undefined;
}

function received(delivery: Delivery): void {
  if ("connection" in delivery) {
    connection = delivery.connection;
    for (const { onConnection } of listeners) onConnection(connection);
    return;
  }
  const { name, data, id } = delivery;
  if (name === "run" || name === "timeline") {
    // Of a run that another tab watches.
    if (followed === undefined || followed.taskId !== taskIdOf(data)) return;
    if (name === "timeline") followed.after = Number(id);
  }
  dispatch(name, data);
  if (name === "hello") dispatchEvent(new Event(SERVER_BACK));
}

function dispatch(name: string, data: unknown): void {
  for (const { handlers } of listeners) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wire.ts is the contract of both sides
    const handler = handlers.current[name as keyof LiveEvents] as ((data: unknown) => void) | undefined;
    handler?.(data);
  }
}

/** Passes on an event that this page knows of before the server has sent it. */
export const receive = <Name extends keyof LiveEvents>(name: Name, data: LiveEvents[Name]): void =>
  dispatch(name, data);
