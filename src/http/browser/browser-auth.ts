/**
 * Authenticates requests for the page, by the session cookie of a browser or by a token on /api paths, and serves the
 * routes that open and end a session: single-use links, the sign-in form, sign-out.
 */

import { type Context, Hono } from "hono";
import { getConnInfo } from "@hono/node-server/conninfo";
import { bodyLimit } from "hono/body-limit";
import {
  type Authenticated,
  createAuthenticate,
  type Credentials,
  type CredentialsApp,
  storeUnavailable,
} from "../auth/authenticate.ts";
import { LOCAL_OWNER, networkCaller } from "../../caller.ts";
import { isApiPath, isAssetPath, needsSecret, safeRedirect } from "./paths.ts";
import { createOriginCheck, isFromAnotherOrigin, isNavigation, type OriginCheck } from "../host-guard.ts";
import { createPageSessions, holderOfLink, makeLink, type PageSessions, useLink } from "./sessions.ts";
import { type Refusal, refuse } from "../error-response.ts";
import { confirmSignInPage, type SignIn, signInPage, storeSecretPage } from "./login-page.ts";
import { bearerToken } from "../auth/tokens.ts";

interface PageRequest {
  /** As matched by the router, never as written in the URL. */
  path: string;
  /** Remote address of the connection. */
  address: string;
}

export interface BrowserAuth extends Pick<OriginCheck, "isSameOrigin"> {
  /** Returns an error response or the sign-in page if the request is not authenticated. */
  admit(request: Request, about: PageRequest): Promise<Authenticated | Response>;
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
    sessions: createPageSessions({
      deps: app.deps,
      publicUrl: app.config.settings.MCP_PUBLIC_URL,
      ownOwner: credentials.own.owner,
      isStillValid: credentials.isStillValid,
    }),
    addresses,
  };
  const publicRoutes = new Hono();
  addLinks(publicRoutes, parts);
  addSignIn(publicRoutes, parts);
  return {
    isSameOrigin: origin.isSameOrigin,
    admit: createAdmit(parts),
    publicRoutes,
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
    if (isApiPath(path) && request.headers.has("authorization")) return authenticate(request, { address });
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
 * Separate rate limits, so that reloading the page does not block the same user's MCP clients; and one for its
 * files, of which every reload requests several. No owner contains a space.
 */
const pageBudget = (path: string, owner: string): string => `${isAssetPath(path) ? "files" : "page"} ${owner}`;

interface BrowserAuthParts {
  app: CredentialsApp;
  credentials: Credentials;
  origin: OriginCheck;
  sessions: PageSessions;
  /** The `host:port` of this server, known once it listens. */
  addresses: () => readonly string[];
}

function addLinks(routes: Hono, { app, credentials, origin, sessions, addresses }: BrowserAuthParts): void {
  const { database, clock } = app.deps;
  /**
   * The owner as whom the user has to confirm to sign in, if any. Everybody with a token can create a link and send it
   * to somebody else, whose questions would then go to the sender's account; from where it was opened says nothing about
   * that. Links for the server's own token can only be created on this machine, so a top-level navigation uses them at
   * once, also from the local file of the `open` command, which is another origin.
   */
  const ownerToConfirm = async (request: Request, code: string): Promise<string | undefined> => {
    const holder = await holderOfLink(await database(), code, { addresses: addresses(), now: clock.now() });
    if (holder === undefined || !(await credentials.isStillValid(holder))) return undefined;
    const isOwn = holder.owner === credentials.own.owner;
    return isOwn && (isNavigation(request) || !isFromAnotherOrigin(request)) ? undefined : holder.owner;
  };
  const enter = async (context: Context, { isConfirmed }: { isConfirmed: boolean }): Promise<Response> => {
    const request = context.req.raw;
    const code = context.req.param("code") ?? "";
    const to = safeRedirect(context.req.query("to"));
    let reason = INVALID_LINK;
    try {
      const owner = isConfirmed ? undefined : await ownerToConfirm(request, code);
      if (owner !== undefined) {
        return confirmSignInPage(owner, `/enter/${encodeURIComponent(code)}?to=${encodeURIComponent(to)}`);
      }
      const holder = await useLink(await database(), code, { addresses: addresses(), now: clock.now() });
      if (holder !== undefined && (await credentials.isStillValid(holder))) {
        return storeSecretPage(to, await sessions.open(request, holder));
      }
      if (holder !== undefined) reason = OTHER_TOKEN;
      // An old link in the history of a signed-in browser still leads to its target.
      const session = await sessions.find(request);
      if (session !== undefined) return seeOther(to, session.cookie);
    } catch (error) {
      return storeUnavailable(error);
    }
    const tooMany = credentials.countFailure(getConnInfo(context).remote.address ?? "");
    return tooMany ?? loginOr401(request, { path: context.req.path, to, reason });
  };
  // A HEAD request, such as a link preview's, must not use the link up.
  routes.get("/enter/:code", (context) =>
    context.req.raw.method === "GET" ? enter(context, { isConfirmed: false }) : refuse(LINK_NEEDS_GET),
  );
  // A form of another page cannot confirm: it has another origin.
  routes.post("/enter/:code", (context) =>
    origin.mayUsePage(context.req.raw) ? enter(context, { isConfirmed: true }) : refuse(OTHER_ORIGIN),
  );
}

const MAX_FORM_BYTES = 16 * 1024;
const FORM = /^application\/x-www-form-urlencoded\b/i;

function addSignIn(routes: Hono, { credentials, origin, sessions }: BrowserAuthParts): void {
  const tooLong = (): Response => refuse(NOT_A_FORM);
  routes.get("/sign-in", (context) => signInPage({ status: 200, to: safeRedirect(context.req.query("to")) }));
  routes.post("/sign-in", bodyLimit({ maxSize: MAX_FORM_BYTES, onError: tooLong }), async (context) => {
    const request = context.req.raw;
    if (!origin.mayUsePage(request)) return refuse(OTHER_ORIGIN);
    if (!FORM.test(request.headers.get("content-type") ?? "")) return refuse(NOT_A_FORM);
    const form = new URLSearchParams(await context.req.text());
    const to = safeRedirect(form.get("to"));
    const known = await credentials.check(form.get("token")?.trim() ?? "", {
      address: getConnInfo(context).remote.address ?? "",
    });
    if (known instanceof Response) return signInPage(await unavailableSignIn(known, to));
    if ("invalid" in known)
      return signInPage({ status: 401, to, reason: `The token is not accepted. ${known.invalid}` });
    const opened = await sessions.open(request, known).catch(storeUnavailable);
    return opened instanceof Response ? opened : storeSecretPage(to, opened);
  });
}

/** The sign-in page for a token that could not be checked. */
async function unavailableSignIn(refusal: Response, to: string): Promise<SignIn> {
  const reason =
    refusal.status === 429 ? "Too many invalid tokens were sent from this address." : "The token cannot be checked.";
  const retryAfter = refusal.headers.get("retry-after");
  const when = retryAfter === null ? "Try again later." : `Try again in ${retryAfter} s.`;
  return { status: refusal.status, to, reason: `${reason} ${when}`, retryAfter };
}

/** To be mounted behind authentication. */
function createSessionRoutes({ app, credentials, sessions, addresses }: BrowserAuthParts): Hono {
  const { database, clock } = app.deps;
  const routes = new Hono();
  routes.post("/api/links", async (context) => {
    const token = bearerToken(context.req.raw.headers);
    if (token === undefined) return refuse(TOKEN_NEEDED);
    const known = await credentials.check(token, { address: getConnInfo(context).remote.address ?? "" });
    if (known instanceof Response) return known;
    if ("invalid" in known) return refuse(TOKEN_NEEDED);
    const [address = ""] = addresses();
    const code = await database()
      .then((db) => makeLink(db, known, { address, now: clock.now() }))
      .catch(storeUnavailable);
    return code instanceof Response ? code : context.json({ path: `/enter/${code}` });
  });
  routes.post("/sign-out", async (context) => {
    const cookie = await sessions.close(context.req.raw).catch(storeUnavailable);
    if (cookie instanceof Response) return cookie;
    return new Response(null, { status: 204, headers: { "Set-Cookie": cookie } });
  });
  return routes;
}

const INVALID_LINK =
  "This link has been used, is older than two minutes, or was created for a server at another address or with another config directory. Get a new one: gemini-search-mcp open";
const OTHER_TOKEN =
  "This link was created with a different token than this server has now. Set MCP_AUTH_TOKEN to the server's token, then run: gemini-search-mcp open";

const TOKEN_NEEDED: Refusal = {
  status: 401,
  code: "PERMISSION_DENIED",
  message: "A token is required to create a link.",
  suggestion: "Send the header `Authorization: Bearer` with the server's token or one from `token add`.",
};
const NOT_A_FORM: Refusal = {
  status: 400,
  code: "INVALID_INPUT",
  message: "This is not a sign-in form with a token.",
};
const LINK_NEEDS_GET: Refusal = {
  status: 405,
  code: "INVALID_INPUT",
  message: "A link can only be opened with GET.",
  headers: { Allow: "GET" },
};

/** The sign-in page for a browser that navigates, a JSON error with status 401 for everything else. */
function loginOr401(request: Request, { path, to, reason }: { path: string; to?: string; reason?: string }): Response {
  const isBrowserView = request.method === "GET" && readsHtml(request) && !isApiPath(path) && !isAssetPath(path);
  if (!isBrowserView) return refuse({ ...NOT_SIGNED_IN, message: reason ?? NOT_SIGNED_IN.message });
  return signInPage({
    status: 401,
    reason,
    to: to ?? safeRedirect(`${path}${new URL(request.url).search}`),
    fromAnotherOrigin: isFromAnotherOrigin(request),
  });
}

const readsHtml = ({ headers }: Request): boolean => headers.get("accept")?.includes("text/html") === true;

const seeOther = (location: string, cookie?: string): Response =>
  new Response(null, {
    status: 303,
    headers: { Location: location, ...(cookie === undefined ? {} : { "Set-Cookie": cookie }) },
  });

const NOT_SIGNED_IN: Refusal = {
  status: 401,
  code: "PERMISSION_DENIED",
  message: "You are not signed in.",
  suggestion: "Open the page with `gemini-search-mcp open`, or send a token as `Authorization: Bearer` to /api.",
};

/** The request has the cookie, but not the secret that only the page itself can add. */
const SECRET_MISSING: Refusal = {
  status: 401,
  code: "PERMISSION_DENIED",
  message: "The cookie alone is not enough.",
  suggestion: "Sign in again, with `gemini-search-mcp open` or a token.",
};

const OTHER_ORIGIN: Refusal = {
  status: 403,
  code: "PERMISSION_DENIED",
  message: "This request came from another web page, not from this server's page.",
  suggestion: "Open the page: gemini-search-mcp open",
};
