/** Who may open the page: a browser that came by a link or signed in, and a script that sends a token. */

import { Hono } from "hono";
import { type Authenticated, createAuthenticate } from "../auth/authenticate.ts";
import { LOCAL_OWNER, networkCaller } from "../../caller.ts";
import { type Credentials, type CredentialsApp, storeUnavailable } from "../auth/credentials.ts";
import { isForScripts, isPageFile, needsSecret, ownPlace } from "./paths.ts";
import { askWho, FOREIGN_PAGE, NO_SECRET, seeOther } from "./responses.ts";
import { createInside, createWaysIn, type DoorParts } from "./login-routes.ts";
import { createPageOrigin, type PageOrigin } from "./same-origin.ts";
import { createPageSessions } from "./session.ts";
import { refuse } from "../error-response.ts";

export interface Admitted extends Authenticated {
  /** Whose budget of requests it takes from. */
  budget: string;
  /** To be set, when the session lasts longer than the browser knows. */
  cookie?: string | undefined;
}

interface PageRequest {
  /** As the router matched it, never as it is spelled in the URL. */
  path: string;
  /** Of the connection. */
  address: string;
}

export interface PageDoor extends Pick<PageOrigin, "isOwn"> {
  /** A response is a refusal, ready to be sent. */
  admit(request: Request, about: PageRequest): Promise<Admitted | Response>;
  /** The ways in: to be mounted before anybody is asked who they are. */
  waysIn: Hono;
  /** For those who are in. */
  inside: Hono;
}

/** `addresses` are the `host:port` of this server. Without credentials no token is asked for. */
export function createPageDoor(
  app: CredentialsApp,
  credentials: Credentials | undefined,
  addresses: () => readonly string[],
): PageDoor {
  const origin = createPageOrigin(app.config.settings.MCP_PUBLIC_URL);
  if (credentials === undefined) return openDoor(origin);
  const parts: DoorParts = { app, credentials, origin, sessions: createPageSessions(app, credentials), addresses };
  return { isOwn: origin.isOwn, admit: createAdmit(parts), waysIn: createWaysIn(parts), inside: createInside(parts) };
}

function openDoor({ isOwn, mayUsePage }: PageOrigin): PageDoor {
  const waysIn = new Hono();
  waysIn.get("/enter/:code", (context) => seeOther(ownPlace(context.req.query("to"))));
  waysIn.get("/sign-in", () => seeOther("/"));
  const inside = new Hono();
  inside.post("/api/links", (context) => context.json({ path: "/" }));
  // Nobody is signed in; whoever leaves all the same has nothing to lose.
  inside.post("/sign-out", () => new Response(null, { status: 204 }));
  return {
    isOwn,
    waysIn,
    inside,
    admit: async (request, { path }) =>
      mayUsePage(request)
        ? { caller: networkCaller(LOCAL_OWNER), budget: pageBudget(path, LOCAL_OWNER) }
        : refuse(FOREIGN_PAGE),
  };
}

function createAdmit({ credentials, origin, sessions }: DoorParts): PageDoor["admit"] {
  const authenticate = createAuthenticate(credentials);
  return async (request, { path, address }) => {
    if (isForScripts(path) && request.headers.has("authorization")) {
      const known = await authenticate(request, { address });
      return known instanceof Response ? known : { ...known, budget: known.caller.owner };
    }
    if (!sessions.hasCookie(request)) return askWho(request, { path });
    if (!origin.mayUsePage(request)) return refuse(FOREIGN_PAGE);
    const session = await sessions.find(request).catch(storeUnavailable);
    if (session instanceof Response) return session;
    if (session === undefined) return askWho(request, { path });
    const { credential, cookie, hasSecret } = session;
    if (!hasSecret && needsSecret(path)) return refuse(NO_SECRET);
    const { owner } = credential;
    return { caller: networkCaller(owner), credential, budget: pageBudget(path, owner), cookie };
  };
}

/**
 * A budget of its own, so that a page which is reloaded often stops no MCP client of the same user; and one for its
 * files, of which every reload asks for several. No owner has a space in it.
 */
const pageBudget = (path: string, owner: string): string => `${isPageFile(path) ? "files" : "page"} ${owner}`;
