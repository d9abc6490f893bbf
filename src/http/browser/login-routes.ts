/** The ways into the page and out of it: links that are good once, the sign-in form, signing out. */

import { getConnInfo } from "@hono/node-server/conninfo";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { type Credentials, type CredentialsApp, storeUnavailable } from "../auth/credentials.ts";
import { ownPlace } from "./paths.ts";
import { askWho, FOREIGN_PAGE, seeOther } from "./responses.ts";
import { holderOfLink, makeLink, useLink } from "./login-key-store.ts";
import { isNavigation, isSentByOthers, type PageOrigin } from "./same-origin.ts";
import type { PageSessions } from "./session.ts";
import { type Refusal, refuse } from "../error-response.ts";
import { enteredPage, goOnPage, type SignIn, signInPage } from "./login-page.ts";
import { bearerToken } from "../auth/tokens.ts";

export interface DoorParts {
  app: CredentialsApp;
  credentials: Credentials;
  origin: PageOrigin;
  sessions: PageSessions;
  /** The `host:port` of this server, known once it listens. */
  addresses: () => readonly string[];
}

/** To be mounted before anybody is asked who they are. */
export function createWaysIn(parts: DoorParts): Hono {
  const waysIn = new Hono();
  addLinks(waysIn, parts);
  addSignIn(waysIn, parts);
  return waysIn;
}

function addLinks(waysIn: Hono, { app, credentials, sessions, addresses }: DoorParts): void {
  const { database, clock } = app.deps;
  /**
   * The terminal opens a file of the user's, from which a browser comes as from a foreign page. No foreign page can know
   * a link that is not its own; but with a link of its own it could sign the user in as somebody else, who would then
   * read what they research. Nobody but the user of this machine makes links for that user, so these are used at once,
   * by the window itself; with all others the user has to go on by hand.
   */
  const mayBeSent = async (request: Request, code: string): Promise<boolean> => {
    if (!isNavigation(request)) return false;
    return (await holderOfLink(await database(), code, clock.now()))?.owner === credentials.own.owner;
  };
  waysIn.get("/enter/:code", async (context) => {
    const request = context.req.raw;
    const code = context.req.param("code");
    const to = ownPlace(context.req.query("to"));
    // Whoever only looks whether something is there does not use it up.
    if (request.method !== "GET") return refuse(ONLY_OPENED);
    let reason = USED_LINK;
    try {
      if (isSentByOthers(request) && !(await mayBeSent(request, code))) {
        return goOnPage(`/enter/${encodeURIComponent(code)}?to=${encodeURIComponent(to)}`);
      }
      const holder = await useLink(await database(), code, { addresses: addresses(), now: clock.now() });
      if (holder !== undefined && (await credentials.stillGood(holder))) {
        return enteredPage(to, await sessions.open(request, holder));
      }
      if (holder !== undefined) reason = OTHER_TOKEN;
      // An old link in the history of a browser that is signed in leads where it led.
      const session = await sessions.find(request);
      if (session !== undefined) return seeOther(to, session.cookie);
    } catch (error) {
      return storeUnavailable(error);
    }
    const tooMany = credentials.countWrong(getConnInfo(context).remote.address ?? "");
    return tooMany ?? askWho(request, { path: context.req.path, to, reason });
  });
}

const LONGEST_FORM = 16 * 1024;
const FORM = /^application\/x-www-form-urlencoded\b/i;

function addSignIn(waysIn: Hono, { credentials, origin, sessions }: DoorParts): void {
  const tooLong = (): Response => refuse(NO_FORM);
  waysIn.get("/sign-in", (context) => signInPage({ status: 200, to: ownPlace(context.req.query("to")) }));
  waysIn.post("/sign-in", bodyLimit({ maxSize: LONGEST_FORM, onError: tooLong }), async (context) => {
    const request = context.req.raw;
    if (!origin.mayUsePage(request)) return refuse(FOREIGN_PAGE);
    if (!FORM.test(request.headers.get("content-type") ?? "")) return refuse(NO_FORM);
    const form = new URLSearchParams(await context.req.text());
    const to = ownPlace(form.get("to"));
    const known = await credentials.check(form.get("token")?.trim() ?? "", {
      address: getConnInfo(context).remote.address ?? "",
    });
    if (known instanceof Response) return signInPage(await notNow(known, to));
    if ("invalid" in known)
      return signInPage({ status: 401, to, reason: `The token is not accepted. ${known.invalid}` });
    const opened = await sessions.open(request, known).catch(storeUnavailable);
    return opened instanceof Response ? opened : enteredPage(to, opened);
  });
}

/** The same refusal as elsewhere, for people to read. */
async function notNow(refusal: Response, to: string): Promise<SignIn> {
  const reason =
    refusal.status === 429 ? "Too many wrong tokens came from this address." : "The token cannot be checked.";
  const retryAfter = refusal.headers.get("retry-after");
  const when = retryAfter === null ? "Try again later." : `Try again in ${retryAfter} s.`;
  return { status: refusal.status, to, reason: `${reason} ${when}`, retryAfter };
}

/** For those who are in. */
export function createInside({ app, credentials, sessions, addresses }: DoorParts): Hono {
  const { database, clock } = app.deps;
  const inside = new Hono();
  inside.post("/api/links", async (context) => {
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
  inside.post("/sign-out", async (context) => {
    const cookie = await sessions.close(context.req.raw).catch(storeUnavailable);
    if (cookie instanceof Response) return cookie;
    return new Response(null, { status: 204, headers: { "Set-Cookie": cookie } });
  });
  return inside;
}

const USED_LINK =
  "This link has been used, is older than two minutes, or was made for a server at another address or with another config directory. Get a new one: gemini-search-mcp dashboard";
const OTHER_TOKEN =
  "This link was made with another token than this server has now. Set MCP_AUTH_TOKEN as the server has it, then: gemini-search-mcp dashboard";

const TOKEN_NEEDED: Refusal = {
  status: 401,
  code: "UNAUTHORIZED",
  message: "A link is made for a token only.",
  suggestion: "Send the header `Authorization: Bearer` with the server's token or one of `token add`.",
};
const NO_FORM: Refusal = {
  status: 400,
  code: "INVALID_INPUT",
  message: "The sign-in form sends a token and nothing else.",
};
const ONLY_OPENED: Refusal = {
  status: 405,
  code: "INVALID_INPUT",
  message: "A link can only be opened.",
  headers: { Allow: "GET" },
};
