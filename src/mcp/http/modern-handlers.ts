/** Handlers for 2026-era requests, one per owner: what one owner's streams are told must never reach another's. */

import { createMcpHandler, type McpHttpHandler, type McpServer } from "@modelcontextprotocol/server";
import { openInTime } from "./early-stream.ts";
import type { RunEvents } from "../resources/subscriptions.ts";
import type { Caller } from "../../caller.ts";

/** A handler is small, but whoever can sign in could else make any number of them. */
const MOST_OWNERS = 1_000;

export interface ModernHandlersOptions {
  build: (caller: Caller) => McpServer;
  /** What the owner's open `subscriptions/listen` streams are told. */
  events: (owner: string) => RunEvents;
  onerror: (error: Error) => void;
  most?: number;
}

export interface ModernHandlers {
  handle(request: Request, caller: Caller, body: unknown): Promise<Response>;
  close(): Promise<void>;
}

interface Owned {
  handler: McpHttpHandler;
  bus: RunEvents;
}

export function createModernHandlers(options: ModernHandlersOptions): ModernHandlers {
  const owners = new Map<string, Owned>();
  const handlerOf = (caller: Caller): McpHttpHandler => {
    const owned = owners.get(caller.owner) ?? createOwned(caller, options);
    // Last in the map is last used.
    owners.delete(caller.owner);
    owners.set(caller.owner, owned);
    if (owners.size > (options.most ?? MOST_OWNERS)) dropOldest(owners);
    return owned.handler;
  };
  return {
    handle: (request, caller, body) => openInTime(handlerOf(caller).fetch(request, { parsedBody: body })),
    close: async () => {
      await Promise.all([...owners.values()].map(({ handler }) => handler.close()));
    },
  };
}

function createOwned(caller: Caller, { build, events, onerror }: ModernHandlersOptions): Owned {
  const bus = events(caller.owner);
  return { handler: createMcpHandler(() => build(caller), { legacy: "reject", bus, onerror }), bus };
}

/** Calls that run go on without the map; a stream that listens would wait in vain. */
function dropOldest(owners: Map<string, Owned>): void {
  // The last one is about to be used.
  const [oldest] = [...owners].slice(0, -1).find(([, { bus }]) => !bus.listening()) ?? [];
  if (oldest !== undefined) owners.delete(oldest);
}
