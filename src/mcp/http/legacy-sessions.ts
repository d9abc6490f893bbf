/** HTTP sessions of 2025-era clients: route each request to the server instance that the session began with. */

/* oxlint-disable unicorn/prefer-add-event-listener -- the SDK's servers and transports are no event targets */

import { randomUUID } from "node:crypto";
import {
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type McpServer,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { isRecord } from "../../platform/is-record.ts";
import { rpcError } from "./responses.ts";
import type { Caller } from "../../caller.ts";

const MAX_IDLE_MS = 30 * 60_000;
const SWEEP_INTERVAL_MS = 60_000;
const MAX_SESSIONS = 1_000;
/** So that one user cannot lock out all others. */
const MAX_SESSIONS_PER_OWNER = 100;
const RETRY_AFTER_S = 60;

interface SessionsOptions {
  build: (caller: Caller, first: Request) => McpServer;
  now: () => number;
  onerror: (error: Error) => void;
  maxSessions?: number;
  maxPerOwner?: number;
}

export interface LegacyRequest {
  request: Request;
  caller: Caller;
  /** Undefined for a request without a body. */
  body: unknown;
}

export interface Sessions {
  open(first: LegacyRequest): Promise<Response>;
  /** Another owner's session gets the same response as an id that never existed. */
  resume(id: string, next: LegacyRequest): Promise<Response>;
  /** Closes sessions that have been idle for half an hour. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

interface Session {
  owner: string;
  server: McpServer;
  transport: WebStandardStreamableHTTPServerTransport;
  usedAt: number;
  streams: number;
  /** Calls without a response yet: they continue when their connection is lost. */
  calls: Set<RequestId>;
}

export const opensSession = (body: unknown): boolean => isInitializeRequest(body);

export function createSessions(options: SessionsOptions): Sessions {
  const { build, now, onerror, maxSessions = MAX_SESSIONS, maxPerOwner = MAX_SESSIONS_PER_OWNER } = options;
  const sessions = new Map<string, Session>();
  const sweep = async (): Promise<void> => {
    const idle = [...sessions.values()].filter(
      ({ calls, streams, usedAt }) => calls.size === 0 && streams === 0 && now() - usedAt >= MAX_IDLE_MS,
    );
    await Promise.all(idle.map(({ server }) => server.close()));
  };
  /** At the owner's limit, closes the owner's session that was idle for longest. */
  const evictForOwner = async (owner: string): Promise<void> => {
    const own = [...sessions.values()].filter((session) => session.owner === owner);
    if (own.length < maxPerOwner) return;
    const [idlest] = own.toSorted((a, b) => a.calls.size - b.calls.size || a.usedAt - b.usedAt);
    await idlest?.server.close();
  };
  const timer = setInterval(() => void sweep(), SWEEP_INTERVAL_MS).unref();
  return {
    open: async ({ request, caller, body }) => {
      await evictForOwner(caller.owner);
      if (sessions.size >= maxSessions) await sweep();
      if (sessions.size >= maxSessions) return tooManySessions();
      const server = build(caller, request);
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => {
          sessions.set(id, session);
          const closed = server.server.onclose;
          server.server.onclose = () => {
            sessions.delete(id);
            // Ends the session's subscriptions.
            closed?.();
          };
        },
      });
      const session: Session = { owner: caller.owner, server, transport, usedAt: now(), streams: 0, calls: new Set() };
      transport.onerror = onerror;
      await server.connect(transport);
      trackCalls(session, now);
      return transport.handleRequest(request, { parsedBody: body });
    },
    resume: async (id, { request, caller, body }) => {
      const session = sessions.get(id);
      if (session?.owner !== caller.owner) return unknownSession();
      session.usedAt = now();
      const response = await session.transport.handleRequest(request, { parsedBody: body });
      if (request.method === "GET" && response.ok) trackStream(session, request.signal, now);
      return response;
    },
    sweep,
    close: async () => {
      clearInterval(timer);
      await Promise.all([...sessions.values()].map(({ server }) => server.close()));
    },
  };
}

/** The SDK does not expose which calls are running, so they are read from the messages on the transport. */
function trackCalls(session: Session, now: () => number): void {
  const { transport, calls } = session;
  const deliver = transport.onmessage;
  const send = transport.send.bind(transport);
  const ended = (id: unknown): void => {
    if (typeof id === "string" || typeof id === "number") calls.delete(id);
    session.usedAt = now();
  };
  transport.onmessage = (message, extra) => {
    if (isJSONRPCRequest(message)) calls.add(message.id);
    // A cancelled call gets no response.
    else if ("method" in message && message.method === "notifications/cancelled" && isRecord(message.params))
      ended(message.params["requestId"]);
    deliver?.(message, extra);
  };
  transport.send = async (message, options) => {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) ended(message.id);
    await send(message, options);
  };
}

function trackStream(session: Session, signal: AbortSignal, now: () => number): void {
  session.streams += 1;
  const closed = (): void => {
    session.streams -= 1;
    session.usedAt = now();
  };
  if (signal.aborted) closed();
  else signal.addEventListener("abort", closed, { once: true });
}

const unknownSession = (): Response =>
  rpcError(404, { code: -32_001, message: "There is no such session. Connect again with initialize." });

const tooManySessions = (): Response =>
  rpcError(
    503,
    { code: -32_000, message: "Too many sessions are open. Close one with DELETE, or try again later." },
    { headers: { "retry-after": String(RETRY_AFTER_S) } },
  );
