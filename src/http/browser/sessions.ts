/**
 * Browser sessions and the single-use links that open one. Both are keys in the database, valid only while the token is
 * with which they were created: a link for two minutes, a session, named by its cookie, for 30 days after its last use.
 */

import type { ExpressionBuilder } from "kysely";
import { parse, serialize } from "hono/utils/cookie";
import type { App } from "../../app.ts";
import { PAGE_SECRET_HEADER } from "../../web/wire.ts";
import type { Database, Tables } from "../../store/database.ts";
import { hashToken, newToken, sameHash } from "../auth/tokens.ts";

const KEY = /^[\w-]{43}$/;

export interface OpenedSession {
  /** `Set-Cookie` header; a browser sends the cookie to every port of this host. */
  cookie: string;
  /** For the page's localStorage. The cookie alone is not accepted. */
  secret: string;
  /** Shown on the page, for everybody but the user of this machine. */
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

interface SessionOptions {
  deps: Pick<App["deps"], "database" | "clock">;
  publicUrl: string | undefined;
  /** Whose sessions show no name. */
  ownOwner: string;
  isStillValid: (holder: KeyHolder) => Promise<boolean>;
}

export function createPageSessions({ deps, publicUrl: url, ownOwner, isStillValid }: SessionOptions): PageSessions {
  const { database, clock } = deps;
  const publicUrl = URL.parse(url ?? "");
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
      if (session === undefined || !(await isStillValid(session))) return undefined;
      const { renewed, expiresAt, hasSecret, ...credential } = session;
      return { credential, hasSecret, cookie: renewed ? cookieUntil(request, key, expiresAt) : undefined };
    },
    open: async (request, holder) => {
      const { key, secret, expiresAt } = await openSession(await database(), holder, clock.now());
      const user = holder.owner === ownOwner ? undefined : holder.owner;
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

const LINK_MS = 2 * 60_000;
const DAY_MS = 24 * 3_600_000;
const SESSION_MS = 30 * DAY_MS;

/** For which owner, and with which token, a key was created. */
export interface KeyHolder {
  owner: string;
  tokenHash: string;
  /** Absent: the token is valid until it is revoked. */
  tokenExpiresAt?: number | undefined;
}

/** What authenticated a request: a token, or a browser session that was opened with one. */
export interface Credential extends KeyHolder {
  /** Hash of the session cookie; absent if the token itself was sent. */
  sessionHash?: string | undefined;
}

interface Session extends KeyHolder {
  sessionHash: string;
  /** Whether the request also contained the secret of this session. */
  hasSecret: boolean;
  expiresAt: number;
  /** Whether the session was extended, so that the browser needs a new cookie. */
  renewed: boolean;
}

type Kind = Tables["page_keys"]["kind"];

/** `address` is the `host:port` of the only server that accepts the link. */
export async function makeLink(
  db: Database,
  holder: KeyHolder,
  { address, now }: { address: string; now: number },
): Promise<string> {
  return (await makeKey(db, { kind: "link", holder, now, address, secretHash: null })).key;
}

interface NewSession extends NewKey {
  /** For the page's localStorage, which no other origin can read. */
  secret: string;
}

export async function openSession(db: Database, holder: KeyHolder, now: number): Promise<NewSession> {
  const secret = newToken();
  const opened = await makeKey(db, { kind: "session", holder, now, address: null, secretHash: hashToken(secret) });
  return { ...opened, secret };
}

interface NewKey {
  /** Only its hash is stored. */
  key: string;
  expiresAt: number;
}

interface KeyRow {
  kind: Kind;
  holder: KeyHolder;
  now: number;
  address: string | null;
  secretHash: string | null;
}

async function makeKey(db: Database, { kind, holder, now, address, secretHash }: KeyRow): Promise<NewKey> {
  const expiresAt = kind === "link" ? now + LINK_MS : sessionEnd(holder, now);
  await db.deleteFrom("page_keys").where("expires_at", "<=", now).execute();
  const key = newToken();
  await db
    .insertInto("page_keys")
    .values({
      key_hash: hashToken(key),
      kind,
      owner: holder.owner,
      token_hash: holder.tokenHash,
      token_expires_at: holder.tokenExpiresAt ?? null,
      created_at: now,
      expires_at: expiresAt,
      address,
      secret_hash: secretHash,
    })
    .execute();
  return { key, expiresAt };
}

const sessionEnd = ({ tokenExpiresAt = Number.POSITIVE_INFINITY }: KeyHolder, now: number): number =>
  Math.min(now + SESSION_MS, tokenExpiresAt);

interface LinkUse {
  /** The `host:port` of the server at which the link is opened. */
  addresses: readonly string[];
  now: number;
}

const HOLDER = ["owner", "token_hash", "token_expires_at"] as const;

const isUsable =
  (code: string, { addresses, now }: LinkUse) =>
  ({ and, eb }: ExpressionBuilder<Tables, "page_keys">) =>
    and([
      eb("key_hash", "=", hashToken(code)),
      eb("kind", "=", "link"),
      eb("expires_at", ">", now),
      eb("address", "in", addresses),
    ]);

/** One statement, so that only one of two simultaneous requests can use a link. */
export async function useLink(db: Database, code: string, use: LinkUse): Promise<KeyHolder | undefined> {
  const row = await db.deleteFrom("page_keys").where(isUsable(code, use)).returning(HOLDER).executeTakeFirst();
  return row === undefined ? undefined : holderOf(row);
}

/** The holder of a link, without using the link up; undefined if it cannot be used. */
export async function holderOfLink(db: Database, code: string, use: LinkUse): Promise<KeyHolder | undefined> {
  const row = await db.selectFrom("page_keys").select(HOLDER).where(isUsable(code, use)).executeTakeFirst();
  return row === undefined ? undefined : holderOf(row);
}

/** The session of a cookie; extends its expiry if it is used. */
export async function findSession(
  db: Database,
  key: string,
  { now, secret }: { now: number; secret: string | undefined },
): Promise<Session | undefined> {
  const hash = hashToken(key);
  const row = await db
    .selectFrom("page_keys")
    .select(["owner", "token_hash", "token_expires_at", "expires_at", "secret_hash"])
    .where("key_hash", "=", hash)
    .where("kind", "=", "session")
    .where("expires_at", ">", now)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const holder = holderOf(row);
  const end = sessionEnd(holder, now);
  // At most once a day: otherwise every request would write to the database.
  const renewed = end - row.expires_at >= DAY_MS;
  if (renewed) void extendSession(db, hash, end);
  const hasSecret = secret !== undefined && row.secret_hash !== null && sameHash(hashToken(secret), row.secret_hash);
  return { ...holder, sessionHash: hash, hasSecret, renewed, expiresAt: renewed ? end : row.expires_at };
}

/** Not awaited, because a locked database would delay the request; the next one tries again if this fails. */
async function extendSession(db: Database, hash: string, end: number): Promise<void> {
  await db
    .updateTable("page_keys")
    .set({ expires_at: end })
    .where("key_hash", "=", hash)
    .execute()
    // A full disk must not lock out the user.
    .catch(() => undefined);
}

/** Hashes of the sessions that are still open, of those named by the credentials. */
export async function findOpenSessions(
  db: Database,
  { credentials, now }: { credentials: readonly Credential[]; now: number },
): Promise<ReadonlySet<string>> {
  const hashes = [...new Set(credentials.flatMap(({ sessionHash }) => sessionHash ?? []))];
  if (hashes.length === 0) return new Set();
  const rows = await db
    .selectFrom("page_keys")
    .select("key_hash")
    .where("key_hash", "in", hashes)
    .where("kind", "=", "session")
    .where("expires_at", ">", now)
    .execute();
  return new Set(rows.map(({ key_hash: hash }) => hash));
}

export async function endSession(db: Database, key: string): Promise<void> {
  await db.deleteFrom("page_keys").where("key_hash", "=", hashToken(key)).where("kind", "=", "session").execute();
}

const holderOf = (row: Pick<Tables["page_keys"], "owner" | "token_hash" | "token_expires_at">): KeyHolder => ({
  owner: row.owner,
  tokenHash: row.token_hash,
  tokenExpiresAt: row.token_expires_at ?? undefined,
});
