/** Change notifications about runs: an event bus per owner, and the subscriptions of older clients. */

import {
  InMemoryServerEventBus,
  type McpServer,
  ResourceNotFoundError,
  type Server,
  type ServerEvent,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import type { App } from "../../app.ts";
import { AppError } from "../../errors.ts";
import { type RunChanges, subscribeToRuns } from "../../runs/history/change-feed.ts";
import { parseUri, reportUri, RUNS_URI, runUri } from "./uris.ts";
import type { Connection } from "../client.ts";

export interface RunEvents extends ServerEventBus {
  hasListeners(): boolean;
}

const eventsByApp = new WeakMap<App, Map<string, RunEvents>>();

/** One event bus per owner, shared by all of the owner's sessions and streams. */
export function runEventsOf(app: App, owner: string): RunEvents {
  const eventsByOwner = eventsByApp.get(app) ?? new Map<string, RunEvents>();
  eventsByApp.set(app, eventsByOwner);
  const events = eventsByOwner.get(owner) ?? createRunEvents(app, owner);
  // Drops the buses without a listener.
  for (const [other, theirs] of eventsByOwner) if (!theirs.hasListeners()) eventsByOwner.delete(other);
  eventsByOwner.set(owner, events);
  return events;
}

/** Follows the change feed from the first subscription to the last, and not without one. */
function createRunEvents({ deps }: App, owner: string): RunEvents {
  const bus = new InMemoryServerEventBus();
  const hasListeners = (): boolean => bus.listenerCount > 0;
  let stop: (() => void) | undefined;
  return {
    publish: (event) => bus.publish(event),
    hasListeners,
    subscribe: (notify) => {
      // Wrapped, so that one function can be subscribed twice.
      const unsubscribe = bus.subscribe((event) => notify(event));
      stop ??= subscribeToRuns({ ...deps, owner }, (changes) => {
        for (const event of eventsOf(changes)) bus.publish(event);
      });
      return () => {
        unsubscribe();
        if (hasListeners()) return;
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
    ...runs.flatMap(({ taskId, otherIds, finished }) =>
      [taskId, ...otherIds].flatMap((id) => [updated(runUri(id)), ...(finished ? [updated(reportUri(id))] : [])]),
    ),
    updated(RUNS_URI),
    ...(listChanged ? [{ kind: "resources_list_changed" } as const] : []),
  ];
}

/** Rejects when the connection has closed. */
export async function sendEvent(server: Server, event: ServerEvent): Promise<void> {
  if (event.kind === "resource_updated") await server.sendResourceUpdated({ uri: event.uri });
  if (event.kind === "resources_list_changed") await server.sendResourceListChanged();
}

/**
 * Subscriptions of one connection of a client before 2026-07-28. Such a client cannot subscribe to changes of the list:
 * it gets them once it has read the list, which is when the returned function has to be called.
 */
export function serveSubscriptions({ server }: McpServer, app: App, { caller, protocolEra }: Connection): () => void {
  if (protocolEra === "modern") return () => {};
  const bus = runEventsOf(app, caller.owner);
  const subscribedUris = new Set<string>();
  let hasReadList = false;
  let stop: (() => void) | undefined;
  const unsubscribe = (): void => {
    stop?.();
    stop = undefined;
  };
  let isClosed = false;
  const subscribe = (): void => {
    // A request may still be running when its connection closes.
    if (isClosed) return;
    stop ??= bus.subscribe((event) => {
      if (event.kind === "resource_updated" && !subscribedUris.has(event.uri)) return;
      sendEvent(server, event).catch(unsubscribe);
    });
  };
  const closed = server.onclose;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's server is no event target
  server.onclose = () => {
    isClosed = true;
    unsubscribe();
    closed?.();
  };
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    await requireExisting(app, caller.owner, uri);
    subscribedUris.add(uri);
    subscribe();
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    subscribedUris.delete(uri);
    if (subscribedUris.size === 0 && !hasReadList) unsubscribe();
    return {};
  });
  return () => {
    hasReadList = true;
    subscribe();
  };
}

/** The run must exist; its report may be subscribed to before it exists. */
async function requireExisting({ deps }: App, owner: string, uri: string): Promise<void> {
  const parsed = parseUri(uri);
  if (parsed === undefined) throw new ResourceNotFoundError(uri);
  if (parsed.taskId === undefined) return;
  await deps.findRun(owner, parsed.taskId).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== "TASK_NOT_FOUND") throw error;
    throw new ResourceNotFoundError(uri, "There is no run with this id.");
  });
}
