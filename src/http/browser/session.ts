/** Browser sessions: the cookie, and whether the session and its token are still valid. */

import { parse, serialize } from "hono/utils/cookie";
import type { Credentials, CredentialsApp } from "../auth/credentials.ts";
import { PAGE_SECRET_HEADER } from "../../web/page-session.ts";
import { type Credential, endSession, findSession, type KeyHolder, openSession } from "./login-key-store.ts";

const KEY = /^[\w-]{43}$/;

export interface OpenedSession {
  /** `Set-Cookie` header; a browser sends the cookie to every port of this host. */
  cookie: string;
  /** For the dashboard's localStorage. The cookie alone is not accepted. */
  secret: string;
  /** Shown on the dashboard, for everybody but the user of this machine. */
  user: string | undefined;
}

interface FoundSession {
  credential: Credential;
  hasSecret: boolean;
  /** `Set-Cookie` with a new expiry, if the session was extended. */
  cookie: string | undefined;
}

export interface PageSessions {
  /** Undefined without a cookie of ours, or with one that is no longer valid. */
  find(request: Request): Promise<FoundSession | undefined>;
  open(request: Request, holder: KeyHolder): Promise<OpenedSession>;
  /** Returns the `Set-Cookie` header that deletes the cookie. */
  close(request: Request): Promise<string>;
  hasCookie(request: Request): boolean;
}

export function createPageSessions(app: CredentialsApp, credentials: Credentials): PageSessions {
  const { database, clock } = app.deps;
  const publicUrl = URL.parse(app.config.settings.MCP_PUBLIC_URL ?? "");
  const cookie = (request: Request, key: string, maxAge: number): string => {
    // TLS ends at a proxy: only for the configured public URL is it known that the browser uses TLS.
    const secure = publicUrl?.protocol === "https:" && request.headers.get("host")?.toLowerCase() === publicUrl.host;
    return serialize(cookieName(request), key, { path: "/", httpOnly: true, sameSite: "Strict", maxAge, secure });
  };
  const cookieUntil = (request: Request, key: string, end: number): string =>
    cookie(request, key, Math.max(0, Math.ceil((end - clock.now()) / 1_000)));
  return {
    find: async (request) => {
      const key = keyIn(request);
      if (key === undefined) return undefined;
      const secret = request.headers.get(PAGE_SECRET_HEADER) ?? undefined;
      const session = await findSession(await database(), key, { now: clock.now(), secret });
      if (session === undefined || !(await credentials.isStillValid(session))) return undefined;
      const { renewed, expiresAt, hasSecret, ...credential } = session;
      return { credential, hasSecret, cookie: renewed ? cookieUntil(request, key, expiresAt) : undefined };
    },
    open: async (request, holder) => {
      const { key, secret, expiresAt } = await openSession(await database(), holder, clock.now());
      const user = holder.owner === credentials.own.owner ? undefined : holder.owner;
      return { cookie: cookieUntil(request, key, expiresAt), secret, user };
    },
    close: async (request) => {
      const key = keyIn(request);
      if (key !== undefined) await endSession(await database(), key);
      return cookie(request, "", 0);
    },
    hasCookie: (request) => keyIn(request) !== undefined,
  };
}

/** Contains the port: cookies are shared by all ports of a host, and another server of ours may use another one. */
function cookieName(request: Request): string {
  const [, port = "80"] = /:(\d{1,5})$/.exec(request.headers.get("host") ?? "") ?? [];
  return `gemini_search_page_${port}`;
}

function keyIn(request: Request): string | undefined {
  const name = cookieName(request);
  const key = parse(request.headers.get("cookie") ?? "", name)[name];
  return key !== undefined && KEY.test(key) ? key : undefined;
}
