/** Change notices about runs: as an event bus, and for clients that subscribe to single resources. */

import {
  type McpServer,
  ResourceNotFoundError,
  type Server,
  type ServerEvent,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import type { App } from "../../app.ts";
import { AppError } from "../../errors.ts";
import { listenToRuns } from "../../runs/history/shared-change-feed.ts";
import type { RunChanges } from "../../runs/history/change-feed.ts";
import { conformanceFixtures } from "../conformance.ts";
import { readAddress, reportUri, RUNS_URI, runUri } from "./uris.ts";
import type { Connection } from "../connection.ts";

type Listener = (event: ServerEvent) => void;

export interface RunEvents extends ServerEventBus {
  listening(): boolean;
}

const shared = new WeakMap<App, Map<string, RunEvents>>();

/** One per owner, however many sessions and streams of theirs listen. */
export function runEventsOf(app: App, owner: string): RunEvents {
  const known = shared.get(app) ?? new Map<string, RunEvents>();
  shared.set(app, known);
  const events = known.get(owner) ?? createRunEvents(app, owner);
  // Owners who hear nothing need no place.
  for (const [other, theirs] of known) if (!theirs.listening()) known.delete(other);
  known.set(owner, events);
  return events;
}

/** The store is looked at from the first listener to the last, and never without one. */
function createRunEvents({ deps }: App, owner: string): RunEvents {
  const listeners = new Set<{ hear: Listener }>();
  const publish = (event: ServerEvent): void => {
    for (const { hear } of listeners) {
      try {
        hear(event);
      } catch {
        // Its own connection is gone; the others are not.
      }
    }
  };
  let stop: (() => void) | undefined;
  return {
    publish,
    listening: () => listeners.size > 0,
    subscribe: (hear) => {
      const listener = { hear };
      listeners.add(listener);
      stop ??= listenToRuns({ ...deps, owner }, (changes) => {
        for (const event of eventsOf(changes)) publish(event);
      });
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stop?.();
        stop = undefined;
      };
    },
  };
}

const updated = (uri: string): ServerEvent => ({ kind: "resource_updated", uri });

function eventsOf({ runs, listChanged }: RunChanges): ServerEvent[] {
  if (runs.length === 0) return [];
  return [
    ...runs.flatMap(({ taskId, finished }) => [
      updated(runUri(taskId)),
      ...(finished ? [updated(reportUri(taskId))] : []),
    ]),
    updated(RUNS_URI),
    ...(listChanged ? [{ kind: "resources_list_changed" } as const] : []),
  ];
}

/** Rejects when the connection is gone. */
export async function sendEvent(server: Server, event: ServerEvent): Promise<void> {
  if (event.kind === "resource_updated") await server.sendResourceUpdated({ uri: event.uri });
  if (event.kind === "resources_list_changed") await server.sendResourceListChanged();
}

/**
 * For clients before 2026-07-28: what one connection subscribed to. Such a client does not ask to hear of a changed
 * list; having read it is the sign that it cares, and the returned function is told so.
 */
export function serveSubscriptions({ server }: McpServer, app: App, { caller, protocolEra }: Connection): () => void {
  if (protocolEra === "modern") return () => {};
  const bus = runEventsOf(app, caller.owner);
  const wanted = new Set<string>();
  let knowsList = false;
  let stop: (() => void) | undefined;
  const leave = (): void => {
    stop?.();
    stop = undefined;
  };
  let gone = false;
  const listen = (): void => {
    // A request may still be under way when its connection ends.
    if (gone) return;
    stop ??= bus.subscribe((event) => {
      if (event.kind === "resource_updated" && !wanted.has(event.uri)) return;
      sendEvent(server, event).catch(leave);
    });
  };
  const closed = server.onclose;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's server is no event target
  server.onclose = () => {
    gone = true;
    leave();
    closed?.();
  };
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    await mustExist(app, caller.owner, uri);
    wanted.add(uri);
    listen();
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    wanted.delete(uri);
    if (wanted.size === 0 && !knowsList) leave();
    return {};
  });
  return () => {
    knowsList = true;
    listen();
  };
}

/** A report may be waited for before it is there, its run may not. */
async function mustExist({ deps }: App, owner: string, uri: string): Promise<void> {
  if (conformanceFixtures()?.canWatchFixture(uri) === true) return;
  const address = readAddress(uri);
  if (address === undefined) throw new ResourceNotFoundError(uri);
  if (address.taskId === undefined) return;
  await deps.findRun(owner, address.taskId).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== "TASK_NOT_FOUND") throw error;
    throw new ResourceNotFoundError(uri, "There is no run with this task_id.");
  });
}
