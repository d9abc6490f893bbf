/** Authenticates requests for the dashboard: by the session cookie of a browser, or by a token on /api paths. */

import { Hono } from "hono";
import { type Authenticated, createAuthenticate } from "../auth/authenticate.ts";
import { LOCAL_OWNER, networkCaller } from "../../caller.ts";
import { type Credentials, type CredentialsApp, storeUnavailable } from "../auth/credentials.ts";
import { isApiPath, isAssetPath, needsSecret, safeRedirect } from "./paths.ts";
import { loginOr401, OTHER_ORIGIN, SECRET_MISSING, seeOther } from "./responses.ts";
import { createSessionRoutes, createPublicRoutes, type BrowserAuthParts } from "./login-routes.ts";
import { createOriginCheck, type OriginCheck } from "./same-origin.ts";
import { createPageSessions } from "./session.ts";
import { refuse } from "../error-response.ts";

export interface Admitted extends Authenticated {
  /** Key of the rate limit that the request counts towards. */
  budget: string;
  /** `Set-Cookie` with a new expiry, if the session was extended. */
  cookie?: string | undefined;
}

interface PageRequest {
  /** As matched by the router, never as written in the URL. */
  path: string;
  /** Remote address of the connection. */
  address: string;
}

export interface BrowserAuth extends Pick<OriginCheck, "isSameOrigin"> {
  /** Returns an error response or the sign-in page if the request is not authenticated. */
  admit(request: Request, about: PageRequest): Promise<Admitted | Response>;
  /** Links and sign-in: to be mounted before authentication. */
  publicRoutes: Hono;
  /** To be mounted behind authentication. */
  sessionRoutes: Hono;
}

/** `addresses` are the `host:port` of this server. Without credentials, no token is required. */
export function createBrowserAuth(
  app: CredentialsApp,
  credentials: Credentials | undefined,
  addresses: () => readonly string[],
): BrowserAuth {
  const origin = createOriginCheck(app.config.settings.MCP_PUBLIC_URL);
  if (credentials === undefined) return anonymousAccess(origin);
  const parts: BrowserAuthParts = {
    app,
    credentials,
    origin,
    sessions: createPageSessions(app, credentials),
    addresses,
  };
  return {
    isSameOrigin: origin.isSameOrigin,
    admit: createAdmit(parts),
    publicRoutes: createPublicRoutes(parts),
    sessionRoutes: createSessionRoutes(parts),
  };
}

function anonymousAccess({ isSameOrigin, mayUsePage }: OriginCheck): BrowserAuth {
  const publicRoutes = new Hono();
  publicRoutes.get("/enter/:code", (context) => seeOther(safeRedirect(context.req.query("to"))));
  publicRoutes.get("/sign-in", () => seeOther("/"));
  const sessionRoutes = new Hono();
  sessionRoutes.post("/api/links", (context) => context.json({ path: "/" }));
  // There is no session to end.
  sessionRoutes.post("/sign-out", () => new Response(null, { status: 204 }));
  return {
    isSameOrigin,
    publicRoutes,
    sessionRoutes,
    admit: async (request, { path }) =>
      mayUsePage(request)
        ? { caller: networkCaller(LOCAL_OWNER), budget: pageBudget(path, LOCAL_OWNER) }
        : refuse(OTHER_ORIGIN),
  };
}

function createAdmit({ credentials, origin, sessions }: BrowserAuthParts): BrowserAuth["admit"] {
  const authenticate = createAuthenticate(credentials);
  return async (request, { path, address }) => {
    if (isApiPath(path) && request.headers.has("authorization")) {
      const known = await authenticate(request, { address });
      return known instanceof Response ? known : { ...known, budget: known.caller.owner };
    }
    if (!sessions.hasCookie(request)) return loginOr401(request, { path });
    if (!origin.mayUsePage(request)) return refuse(OTHER_ORIGIN);
    const session = await sessions.find(request).catch(storeUnavailable);
    if (session instanceof Response) return session;
    if (session === undefined) return loginOr401(request, { path });
    const { credential, cookie, hasSecret } = session;
    if (!hasSecret && needsSecret(path)) return refuse(SECRET_MISSING);
    const { owner } = credential;
    return { caller: networkCaller(owner), credential, budget: pageBudget(path, owner), cookie };
  };
}

/**
 * Separate rate limits, so that reloading the dashboard does not block the same user's MCP clients; and one for its
 * files, of which every reload requests several. No owner contains a space.
 */
const pageBudget = (path: string, owner: string): string => `${isAssetPath(path) ? "files" : "page"} ${owner}`;
