/** Handlers for 2026-era requests, one per owner, so that no owner's notifications reach another owner's streams. */

import { createMcpHandler, type McpHttpHandler, type McpServer } from "@modelcontextprotocol/server";
import { withEarlyStream } from "./responses.ts";
import type { RunEvents } from "../resources/subscriptions.ts";
import type { Caller } from "../../caller.ts";

/** A handler is small, but an OAuth issuer can have any number of subjects. */
const MAX_OWNERS = 1_000;

interface ModernHandlersOptions {
  /** Called for each request, because the request chooses its tools. */
  build: (caller: Caller, request: Request | undefined) => McpServer;
  /** Source of the notifications for the owner's open `subscriptions/listen` streams. */
  events: (owner: string) => RunEvents;
  onerror: (error: Error) => void;
  maxOwners?: number;
}

export interface ModernHandlers {
  handle(request: Request, caller: Caller, body: unknown): Promise<Response>;
  close(): Promise<void>;
}

interface OwnerHandler {
  handler: McpHttpHandler;
  bus: RunEvents;
}

export function createModernHandlers(options: ModernHandlersOptions): ModernHandlers {
  /** Least recently used first. */
  const owners = new Map<string, OwnerHandler>();
  const handlerOf = (caller: Caller): McpHttpHandler => {
    const used = owners.get(caller.owner) ?? createOwnerHandler(caller, options);
    owners.delete(caller.owner);
    owners.set(caller.owner, used);
    if (owners.size > (options.maxOwners ?? MAX_OWNERS)) evictOldest(owners);
    return used.handler;
  };
  return {
    handle: (request, caller, body) => withEarlyStream(handlerOf(caller).fetch(request, { parsedBody: body })),
    close: async () => {
      await Promise.all([...owners.values()].map(({ handler }) => handler.close()));
    },
  };
}

function createOwnerHandler(caller: Caller, { build, events, onerror }: ModernHandlersOptions): OwnerHandler {
  const bus = events(caller.owner);
  return {
    handler: createMcpHandler(({ requestInfo }) => build(caller, requestInfo), { legacy: "reject", bus, onerror }),
    bus,
  };
}

/** Evicts no owner with an open stream, which would get no more notifications. Running calls continue without it. */
function evictOldest(owners: Map<string, OwnerHandler>): void {
  // The last one is about to be used.
  const [oldest] = [...owners].slice(0, -1).find(([, { bus }]) => !bus.hasListeners()) ?? [];
  if (oldest !== undefined) owners.delete(oldest);
}
