/** Live events for the components of this tab, while it is visible; `tabs.ts` shares the stream with other tabs. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { LiveEvents } from "../../wire.ts";
import { SERVER_BACK } from "../app/request.ts";
import { type Connection, type Delivery, taskIdOf, type Watched } from "./shared-stream.ts";
import { createTab, type Tab } from "./tabs.ts";

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
let tab: Tab | undefined;
let hasJoined = false;
/** The run that this tab watches, with its position in the timeline. */
let followed: Watched | undefined;
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
  tab ??= createTab({ watched: () => followed, received });
  // What a hidden tab would show is loaded when it becomes visible.
  if (document.hidden || listeners.size === 0) {
    tab.leave();
    hasJoined = false;
    return;
  }
  const wanted = [...listeners].map(({ watched }) => watched).findLast((watched) => watched !== undefined);
  const isOther = wanted?.taskId !== followed?.taskId;
  if (isOther) followed = wanted && { ...wanted };
  if (isOther || !hasJoined) tab.join();
  hasJoined = true;
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
