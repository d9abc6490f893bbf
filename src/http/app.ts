/** The HTTP application: checks and authentication in their order, then the routes. */

import { getConnInfo } from "@hono/node-server/conninfo";
import { type Context, Hono } from "hono";
import { cors } from "hono/cors";
import type { App } from "../app.ts";
import { GOOGLE_WEBHOOK_PATH } from "../config/google-webhook.ts";
import type { McpEndpoint } from "../mcp/http/endpoint.ts";
import { type Caller, type CallerEnv, LOCAL_OWNER } from "../caller.ts";
import { isoTime } from "../platform/clock.ts";
import { unexpectedError } from "../platform/unexpected-error.ts";
import type { Authenticate, Authenticated } from "./auth/authenticate.ts";
import { type Guard, isLoopback } from "./host-guard.ts";
import type { WellKnown } from "./auth/oauth.ts";
import { isMissingPage, isPagePath } from "./browser/paths.ts";
import { missingPage } from "./browser/login-page.ts";
import type { BrowserAuth } from "./browser/browser-auth.ts";
import { setDataHeaders, setSecurityHeaders } from "./browser/security-headers.ts";
import { createGoogleMessages } from "./google-messages.ts";
import type { RateLimit } from "./rate-limit.ts";
import { type Refusal, refuse } from "./error-response.ts";
import type { EndWhenRevoked } from "./revocation.ts";
import { createWeb, type WebParts } from "../web/web.ts";

export interface HttpParts {
  app: App;
  mcp: McpEndpoint;
  guard: Guard;
  authenticate: Authenticate;
  browserAuth: BrowserAuth;
  wellKnown: WellKnown;
  rateLimit: RateLimit;
  endWhenRevoked: EndWhenRevoked;
  streams: WebParts["streams"];
  restart: WebParts["keyEntry"]["restart"];
}

const PUBLIC_PREFIX = "/.well-known/";
const PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

export function createHttpApp(parts: HttpParts): Hono<CallerEnv> {
  const { app, mcp, guard, browserAuth, wellKnown, rateLimit, endWhenRevoked } = parts;
  const http = new Hono<CallerEnv>();
  http.use(async (context, next) => {
    await next();
    const { path, raw } = context.req;
    if (isPagePath(path) || isMissingPage(raw, path)) setSecurityHeaders(context.res.headers);
    else setDataHeaders(context.res.headers);
  });
  http.use(async (context, next) => {
    const isPage = isPagePath(context.req.path);
    const origin = context.req.header("origin");
    // An absolute URL in the request line overrides the Host header.
    const hosts = [context.req.header("host"), new URL(context.req.url).host];
    if (!hosts.every(guard.allowsHost)) return refuse(HOST_NOT_ALLOWED);
    // Public: clients in a browser discover the issuer before they have a token.
    if (context.req.path.startsWith(PUBLIC_PREFIX)) return (await wellKnown(context.req.raw)) ?? refuse(NO_SUCH_PATH);
    // The page's own origin is allowed under every allowed host name.
    if (!guard.allowsOrigin(origin) && !(isPage && browserAuth.isSameOrigin(context.req.raw)))
      return refuse(ORIGIN_NOT_ALLOWED);
    if (app.shutdown.leaving()) return refuse(SHUTTING_DOWN);
    // Responses for the page are readable for its own origin only.
    return origin === undefined || isPage ? next() : allowWebPage(context, next);
  });
  http.get("/health", (context) =>
    context.json({
      status: "healthy",
      service: app.name,
      version: app.version,
      timestamp: isoTime(app.deps.clock.now()),
    }),
  );
  http.use((context, next) => {
    const { path, raw } = context.req;
    return isMissingPage(raw, path) ? Promise.resolve(missingPage()) : next();
  });
  http.route("/", browserAuth.publicRoutes);
  const googleMessages = createGoogleMessages(app);
  if (googleMessages !== undefined) {
    // Signed by Google, which has no token.
    http.post(GOOGLE_WEBHOOK_PATH, (context) =>
      googleMessages(context.req.raw, getConnInfo(context).remote.address ?? ""),
    );
  }
  // Also for paths that do not exist, so that an unauthenticated request cannot find out which ones do.
  http.use(async (context, next) => {
    // From the connection, never from a header, which any client can set.
    const address = getConnInfo(context).remote.address ?? "";
    const admitted = await admit(parts, context, address);
    if (admitted instanceof Response) return admitted;
    const tooMany = rateLimit(admitted.budget);
    if (tooMany !== undefined) return tooMany;
    context.set("caller", admitted.caller);
    await next();
    context.res = endWhenRevoked(context.res, admitted.credential);
    if (admitted.cookie !== undefined) context.res.headers.append("set-cookie", admitted.cookie);
    return undefined;
  });
  http.all("/mcp", (context) => mcp.handle(context.req.raw, context.get("caller")));
  http.get("/metrics", (context) => metrics(app, context.get("caller")));
  http.route("/", browserAuth.sessionRoutes);
  http.route("/", createWeb(app, { streams: parts.streams, keyEntry: { isLocal, restart: parts.restart } }));
  http.notFound(() => refuse(NO_SUCH_PATH));
  http.onError((error) => {
    const { id, message } = unexpectedError(error);
    app.log.error(message);
    return refuse(unexpected(id));
  });
  return http;
}

const PROXY_HEADERS = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

/** Whether the request comes from a browser on this machine and through no proxy, as far as its headers show. */
function isLocal(context: Context): boolean {
  const address = (getConnInfo(context).remote.address ?? "").replace(/^::ffff:/, "");
  const host = new URL(context.req.url).hostname.replaceAll(/[[\]]/g, "");
  return isLoopback(address) && isLoopback(host) && !PROXY_HEADERS.some((name) => context.req.raw.headers.has(name));
}

/** Lets web pages use the MCP endpoint whose origin passed the guard. */
const allowWebPage = cors({
  origin: (origin) => origin,
  allowMethods: ["GET", "POST", "DELETE"],
  allowHeaders: [
    "Authorization",
    "Content-Type",
    "Accept",
    "Last-Event-ID",
    "Mcp-Session-Id",
    "Mcp-Protocol-Version",
    "Mcp-Method",
    "Mcp-Name",
  ],
  exposeHeaders: ["Mcp-Session-Id", "Mcp-Protocol-Version", "WWW-Authenticate", "Retry-After"],
  maxAge: 600,
});

/** For the operator, because they count the runs and costs of all users. */
async function metrics({ metrics: read }: App, { owner }: Caller): Promise<Response> {
  if (owner !== LOCAL_OWNER) return refuse(METRICS_NOT_ALLOWED);
  return new Response(await read(), { headers: { "content-type": PROMETHEUS } });
}

/** A cookie is accepted on the page's paths, a token everywhere but on its documents and files. */
const admit = (
  { authenticate, browserAuth }: HttpParts,
  { req }: Context,
  address: string,
): Promise<Authenticated | Response> =>
  isPagePath(req.path) ? browserAuth.admit(req.raw, { address, path: req.path }) : authenticate(req.raw, { address });

const HOST_NOT_ALLOWED: Refusal = {
  status: 403,
  code: "PERMISSION_DENIED",
  message: "This host name is not allowed.",
  suggestion: "Use localhost, or add the name to MCP_ALLOWED_HOSTS.",
};
const ORIGIN_NOT_ALLOWED: Refusal = {
  status: 403,
  code: "PERMISSION_DENIED",
  message: "Web pages from this origin are not allowed to use this server.",
  suggestion: "To allow them, add the origin to MCP_ALLOWED_HOSTS.",
};
const SHUTTING_DOWN: Refusal = {
  status: 503,
  code: "INTERRUPTED",
  message: "The server is shutting down.",
  headers: { connection: "close", "retry-after": "5" },
};
const METRICS_NOT_ALLOWED: Refusal = {
  status: 403,
  code: "PERMISSION_DENIED",
  message: "Only the operator may read the metrics.",
  suggestion: "Use the server's own token.",
};
const NO_SUCH_PATH: Refusal = { status: 404, code: "INVALID_INPUT", message: "There is nothing at this URL." };

const unexpected = (id: string): Refusal => ({
  status: 500,
  code: "UNEXPECTED_ERROR",
  message: `Unexpected error ${id}; see the log.`,
});
