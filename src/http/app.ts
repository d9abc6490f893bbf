/** The HTTP door: who may come in, in which order that is asked, and what stands at which address. */

import { getConnInfo } from "@hono/node-server/conninfo";
import { Hono } from "hono";
import type { App } from "../app.ts";
import type { McpEndpoint } from "../mcp/http.ts";
import type { Caller } from "../mcp/visit.ts";
import { isoTime } from "../platform/clock.ts";
import type { Authenticate } from "./authenticate.ts";
import { isPreflight, letBrowserRead, preflightAnswer } from "./cors.ts";
import type { Guard } from "./guard.ts";
import type { WellKnown } from "./oauth.ts";
import type { RateLimit } from "./rate-limit.ts";
import { type Refusal, refuse } from "./refusal.ts";
import { whileWelcome } from "./while-welcome.ts";

export interface HttpParts {
  app: App;
  mcp: McpEndpoint;
  guard: Guard;
  authenticate: Authenticate;
  wellKnown: WellKnown;
  rateLimit: RateLimit;
}

interface HttpEnv {
  Variables: { caller: Caller };
}

const PUBLIC = "/.well-known/";

export function createHttpApp({ app, mcp, guard, authenticate, wellKnown, rateLimit }: HttpParts): Hono<HttpEnv> {
  const http = new Hono<HttpEnv>();
  http.use(async (context, next) => {
    const origin = context.req.header("origin");
    // A request line may name a host of its own, which then counts for more than the header.
    const hosts = [context.req.header("host"), new URL(context.req.url).host];
    if (!hosts.every(guard.allowsHost)) return refuse(FOREIGN_HOST);
    // Clients in a browser find the issuer before anybody knows them.
    if (context.req.path.startsWith(PUBLIC)) return (await wellKnown(context.req.raw)) ?? refuse(UNKNOWN_ADDRESS);
    if (!guard.allowsOrigin(origin)) return refuse(FOREIGN_ORIGIN);
    if (app.shutdown.leaving()) return refuse(LEAVING);
    if (isPreflight(context.req.raw)) context.res = preflightAnswer();
    else await next();
    if (origin !== undefined) letBrowserRead(context.res.headers, origin);
    return undefined;
  });
  http.get("/health", (context) =>
    context.json({
      status: "healthy",
      service: app.name,
      version: app.version,
      timestamp: isoTime(app.deps.clock.now()),
    }),
  );
  // Also before addresses that do not exist: a stranger learns nothing about which do.
  http.use(async (context, next) => {
    // Of the connection, never of a header: anybody can write one.
    const address = getConnInfo(context).remote.address ?? "";
    const caller = await authenticate(context.req.raw, { address });
    if (caller instanceof Response) return caller;
    const tooMany = rateLimit(caller.owner);
    if (tooMany !== undefined) return tooMany;
    context.set("caller", caller);
    await next();
    const isWelcome = async (): Promise<boolean> =>
      !((await authenticate(context.req.raw, { address })) instanceof Response);
    context.res = whileWelcome(context.res, { isWelcome });
    return undefined;
  });
  http.all("/mcp", (context) => mcp.handle(context.req.raw, context.get("caller")));
  http.notFound(() => refuse(UNKNOWN_ADDRESS));
  http.onError((error) => {
    const id = crypto.randomUUID().slice(0, 8);
    app.log.error(`Unexpected error ${id}: ${error.stack ?? error.message}`);
    return refuse(unexpected(id));
  });
  return http;
}

const FOREIGN_HOST: Refusal = {
  status: 403,
  code: "FORBIDDEN",
  message: "This server does not answer under this host name.",
  suggestion: "Use localhost, or add the name to MCP_ALLOWED_HOSTS.",
};
const FOREIGN_ORIGIN: Refusal = {
  status: 403,
  code: "FORBIDDEN",
  message: "Web pages of this origin may not use this server.",
  suggestion: "Add the origin to MCP_ALLOWED_ORIGINS if it should.",
};
const LEAVING: Refusal = {
  status: 503,
  code: "INTERRUPTED",
  message: "The server is shutting down.",
  headers: { connection: "close", "retry-after": "5" },
};
const UNKNOWN_ADDRESS: Refusal = { status: 404, code: "NOT_FOUND", message: "There is nothing at this address." };

const unexpected = (id: string): Refusal => ({
  status: 500,
  code: "UNEXPECTED_ERROR",
  message: `Something went wrong that should not have (error ${id} in the log).`,
});
