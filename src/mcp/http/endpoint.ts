/** The MCP endpoint over Streamable HTTP, for authenticated requests of both protocol eras. */

import {
  isJsonContentType,
  isLegacyRequest,
  legacyStatelessFallback,
  readRequestBody,
} from "@modelcontextprotocol/server";
import type { App } from "../../app.ts";
import type { Caller } from "../../caller.ts";
import {
  chosenTools,
  parseProfile,
  parseToolSet,
  type Profile,
  PROFILE_CHOICES,
  TOOL_CHOICES,
  toolSet,
} from "../../config/tool-sets.ts";
import { AppError } from "../../errors.ts";
import type { StreamPermits } from "../../operations/parts/stream-permits.ts";
import { isRecord } from "../../platform/is-record.ts";
import type { Connection } from "../client.ts";
import { runEventsOf } from "../resources/subscriptions.ts";
import { buildServer, type BuildServer } from "../server.ts";
import { createSessions, type LegacyRequest, opensSession, type Sessions } from "./legacy-sessions.ts";
import { createModernHandlers } from "./modern-handlers.ts";
import { onResponseEnd, rpcError } from "./responses.ts";

const MAX_BODY_BYTES = 4 * 1_024 * 1_024;
const METHODS = ["GET", "POST", "DELETE"];

export interface McpEndpoint {
  handle(request: Request, caller: Caller): Promise<Response>;
  close(): Promise<void>;
}

interface EndpointOptions {
  streams: StreamPermits;
  /** For clients that choose none. */
  profile?: Profile | undefined;
  build?: BuildServer | undefined;
}

export function createMcpEndpoint(
  app: App,
  { streams, profile: ownProfile, build = buildServer }: EndpointOptions,
): McpEndpoint {
  const onerror = (error: Error): void => app.log.debug(`MCP: ${error.message}`);
  const ownTools = toolSet(app.config.settings.GEMINI_SEARCH_TOOLS);
  const connection = (caller: Caller, request: Request | undefined): Omit<Connection, "protocolEra"> => {
    const { tools, profile } = request === undefined ? NOTHING_CHOSEN : choicesOf(request);
    return {
      caller,
      tools: tools === undefined ? ownTools : chosenTools(tools, ownTools),
      profile: parseProfile(profile ?? "") ?? ownProfile,
      offersEvents: true,
    };
  };
  const sessions = createSessions({
    build: (caller, request) => build(app, { ...connection(caller, request), protocolEra: "legacy" }),
    now: app.deps.clock.now,
    onerror,
  });
  const modern = createModernHandlers({
    build: (caller, request) => build(app, { ...connection(caller, request), protocolEra: "modern" }),
    events: (owner) => runEventsOf(app, owner),
    onerror,
  });
  const stateless = ({ request, caller, body }: LegacyRequest): Promise<Response> =>
    legacyStatelessFallback(() => build(app, { ...connection(caller, request), protocolEra: "legacy" }), onerror)(
      request,
      { parsedBody: body },
    );
  return {
    handle: async (request, caller) => {
      if (!METHODS.includes(request.method)) return methodNotAllowed(METHODS.join(", "));
      const { tools, profile } = choicesOf(request);
      if (tools !== undefined && parseToolSet(tools) === undefined) return unknownTools();
      if (profile !== undefined && parseProfile(profile) === undefined) return unknownProfile();
      const read = request.method === "POST" ? await readBody(request) : { body: undefined };
      if (read instanceof Response) return read;
      const { body } = read;
      const serve = async (): Promise<Response> =>
        (await isLegacyRequest(request, body))
          ? serveLegacy({ request, caller, body }, { sessions, stateless })
          : modern.handle(request, caller, body);
      if (!opensStream(request, body)) return serve();
      // First of all: a call that is refused must not have started anything.
      const release = streams.acquire(caller.owner);
      if (release instanceof AppError) return tooManyStreams(release, body);
      try {
        return onResponseEnd(await serve(), release);
      } catch (error) {
        release();
        throw error;
      }
    },
    close: async () => {
      await Promise.all([sessions.close(), modern.close()]);
    },
  };
}

interface Choices {
  tools: string | undefined;
  profile: string | undefined;
}

const NOTHING_CHOSEN: Choices = { tools: undefined, profile: undefined };

/** What the address of the endpoint chooses, as `/mcp?tools=core&profile=chatgpt`; what is missing or empty is the server's own. */
function choicesOf({ url }: Request): Choices {
  if (!url.includes("?")) return NOTHING_CHOSEN;
  const { searchParams } = new URL(url);
  return { tools: searchParams.get("tools") || undefined, profile: searchParams.get("profile") || undefined };
}

const unknownProfile = (): Response =>
  rpcError(400, { code: -32_602, message: `The profile in the address is unknown. ${PROFILE_CHOICES}` });

const unknownTools = (): Response =>
  rpcError(400, { code: -32_602, message: `The tools in the address are unknown. ${TOOL_CHOICES}` });

/** Notifications and responses open no stream, and short requests are not counted as streams. */
function opensStream({ method }: Request, body: unknown): boolean {
  if (method !== "POST") return method === "GET";
  return isRecord(body) && body["id"] !== undefined && "method" in body && !isShortRequest(body);
}

function tooManyStreams({ details, message, suggestion = "" }: AppError, body: unknown): Response {
  const id = isRecord(body) ? body["id"] : undefined;
  return rpcError(
    details?.["status"] === 503 ? 503 : 429,
    { code: -32_000, message: `${message} ${suggestion}`.trim() },
    { headers: { "retry-after": "5" }, id: typeof id === "string" || typeof id === "number" ? id : null },
  );
}

interface LegacyHandlers {
  sessions: Sessions;
  stateless: (next: LegacyRequest) => Promise<Response>;
}

/** A request without a session id that is not `initialize`, such as one sent by hand, is answered without a session. */
async function serveLegacy(next: LegacyRequest, { sessions, stateless }: LegacyHandlers): Promise<Response> {
  const id = next.request.headers.get("mcp-session-id");
  if (id !== null) return sessions.resume(id, next);
  if (next.request.method !== "POST") return methodNotAllowed("POST");
  return opensSession(next.body) ? sessions.open(next) : stateless(next);
}

async function readBody(request: Request): Promise<{ body: unknown } | Response> {
  if (!isJsonContentType(request.headers.get("content-type"))) {
    return rpcError(415, { code: -32_000, message: "The body must be JSON (Content-Type: application/json)." });
  }
  try {
    const read = await readText(request);
    if (read.tooLarge) return rpcError(413, { code: -32_000, message: "The body is larger than 4 MiB." });
    const body: unknown = JSON.parse(read.text);
    // Removed from the protocol in 2025-06-18; thousands of calls in one request would bypass every limit.
    return Array.isArray(body) ? rpcError(400, { code: -32_600, message: "Batches are not supported." }) : { body };
  } catch {
    return rpcError(400, { code: -32_700, message: "The body is not valid JSON." });
  }
}

/**
 * A body of an allowed length is read at once, because Node.js ends it there; a stream takes a tenth of the time of a request.
 */
async function readText(request: Request): ReturnType<typeof readRequestBody> {
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared <= MAX_BODY_BYTES) return { tooLarge: false, text: await request.text() };
  return readRequestBody(request, MAX_BODY_BYTES);
}

const methodNotAllowed = (allow: string): Response =>
  rpcError(405, { code: -32_000, message: `Only ${allow} is supported here.` }, { headers: { allow } });

/** Requests that are answered at once from the store, and therefore need no stream permit. */
const SHORT_METHODS = new Set([
  "ping",
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "prompts/list",
  "tasks/list",
  "tasks/get",
  "tasks/cancel",
  "events/list",
  "events/subscribe",
  "events/unsubscribe",
]);

const SHORT_TOOLS = new Set([
  "cancel_research",
  "check_research_status",
  "list_research",
  "get_research_results",
  "estimate_research_cost",
  "save_research_to_markdown",
]);

/** At the stream limit a user must still be able to stop runs and to read reports. */
function isShortRequest({ method, params }: Record<string, unknown>): boolean {
  if (method !== "tools/call") return typeof method === "string" && SHORT_METHODS.has(method);
  const { name, arguments: given } = isRecord(params) ? params : {};
  if (typeof name !== "string" || !SHORT_TOOLS.has(name)) return false;
  const wait = isRecord(given) ? given["wait_seconds"] : undefined;
  return wait === undefined || wait === 0;
}
