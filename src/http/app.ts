/** The HTTP door: who may come in, in which order that is asked, and what stands at which address. */

import { getConnInfo } from "@hono/node-server/conninfo";
import { type Context, Hono } from "hono";
import type { App } from "../app.ts";
import type { McpEndpoint } from "../mcp/http/endpoint.ts";
import type { CallerEnv } from "../caller.ts";
import { isoTime } from "../platform/clock.ts";
import type { Authenticate } from "./auth/authenticate.ts";
import { isPreflight, letBrowserRead, preflightAnswer } from "./cors.ts";
import type { Guard } from "./host-guard.ts";
import type { WellKnown } from "./auth/oauth-metadata.ts";
import { isPageAddress } from "./browser/paths.ts";
import type { Admitted, PageDoor } from "./browser/browser-auth.ts";
import { protectPage } from "./browser/security-headers.ts";
import { countRequest, inRequestSpan } from "./request-telemetry.ts";
import type { RateLimit } from "./rate-limit.ts";
import { type Refusal, refuse } from "./error-response.ts";
import type { EndWhenRevoked } from "./revocation.ts";
import { createWeb } from "../web/web.ts";

export interface HttpParts {
  app: App;
  mcp: McpEndpoint;
  guard: Guard;
  authenticate: Authenticate;
  pageDoor: PageDoor;
  wellKnown: WellKnown;
  rateLimit: RateLimit;
  endWhenRevoked: EndWhenRevoked;
  /** How many streams may be open. */
  streams: Parameters<typeof createWeb>[1];
}

const PUBLIC = "/.well-known/";
const PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

export function createHttpApp(parts: HttpParts): Hono<CallerEnv> {
  const { app, mcp, guard, pageDoor, wellKnown, rateLimit, endWhenRevoked } = parts;
  const http = new Hono<CallerEnv>();
  http.use(countRequest);
  http.use(async (context, next) => {
    await next();
    if (isPageAddress(context.req.path)) protectPage(context.res.headers);
  });
  http.use(async (context, next) => {
    const isPage = isPageAddress(context.req.path);
    const origin = context.req.header("origin");
    // A request line may name a host of its own, which then counts for more than the header.
    const hosts = [context.req.header("host"), new URL(context.req.url).host];
    if (!hosts.every(guard.allowsHost)) return refuse(FOREIGN_HOST);
    // Clients in a browser find the issuer before anybody knows them.
    if (context.req.path.startsWith(PUBLIC)) return (await wellKnown(context.req.raw)) ?? refuse(UNKNOWN_ADDRESS);
    // The page is its own origin, under whichever allowed name it was opened.
    if (!guard.allowsOrigin(origin) && !(isPage && pageDoor.isOwn(context.req.raw))) return refuse(FOREIGN_ORIGIN);
    if (app.shutdown.leaving()) return refuse(LEAVING);
    if (isPreflight(context.req.raw) && !isPage) context.res = preflightAnswer();
    else await next();
    // No page but ours reads what the page is told.
    if (origin !== undefined && !isPage) letBrowserRead(context.res.headers, origin);
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
  http.route("/", pageDoor.waysIn);
  const admit = createAdmit(parts);
  // Also before addresses that do not exist: a stranger learns nothing about which do.
  http.use(async (context, next) => {
    // Of the connection, never of a header: anybody can write one.
    const address = getConnInfo(context).remote.address ?? "";
    const admitted = await admit(context, { address });
    if (admitted instanceof Response) return admitted;
    const tooMany = rateLimit(admitted.budget);
    if (tooMany !== undefined) return tooMany;
    context.set("caller", admitted.caller);
    await inRequestSpan(context, next);
    context.res = endWhenRevoked(context.res, admitted.credential);
    if (admitted.cookie !== undefined) context.res.headers.append("set-cookie", admitted.cookie);
    return undefined;
  });
  http.all("/mcp", (context) => mcp.handle(context.req.raw, context.get("caller")));
  http.get("/metrics", async (context) => {
    const text = await (await app.telemetry)?.metricsText?.();
    return text === undefined ? refuse(UNKNOWN_ADDRESS) : context.body(text, 200, { "content-type": PROMETHEUS });
  });
  http.route("/", pageDoor.inside);
  http.route("/", createWeb(app, parts.streams));
  http.notFound(() => refuse(UNKNOWN_ADDRESS));
  http.onError((error) => {
    const id = crypto.randomUUID().slice(0, 8);
    app.log.error(`Unexpected error ${id}: ${error.stack ?? error.message}`);
    return refuse(unexpected(id));
  });
  return http;
}

/** A cookie is good for the page, a token for everything but its pages. */
function createAdmit({ authenticate, pageDoor }: HttpParts) {
  return async ({ req }: Context, about: { address: string }): Promise<Admitted | Response> => {
    if (isPageAddress(req.path)) return pageDoor.admit(req.raw, { ...about, path: req.path });
    const known = await authenticate(req.raw, about);
    return known instanceof Response ? known : { ...known, budget: known.caller.owner };
  };
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
