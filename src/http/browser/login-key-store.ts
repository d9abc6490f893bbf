/** Login keys in the database: single-use links that expire after two minutes, and browser sessions. */

import type { Database, Tables } from "../../store/database.ts";
import { hashToken, newToken, sameHash } from "../auth/tokens.ts";

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

export interface Session extends KeyHolder {
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

export interface NewSession extends NewKey {
  /** For the dashboard's localStorage, which no other origin can read. */
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

/** One statement, so that only one of two simultaneous requests can use a link. */
export async function useLink(db: Database, code: string, { addresses, now }: LinkUse): Promise<KeyHolder | undefined> {
  const row = await db
    .deleteFrom("page_keys")
    .where("key_hash", "=", hashToken(code))
    .where("kind", "=", "link")
    .where("expires_at", ">", now)
    .where("address", "in", addresses)
    .returning(["owner", "token_hash", "token_expires_at"])
    .executeTakeFirst();
  return row === undefined ? undefined : holderOf(row);
}

/** The holder of a link, without using the link up; undefined if it cannot be used. */
export async function holderOfLink(
  db: Database,
  code: string,
  { addresses, now }: LinkUse,
): Promise<KeyHolder | undefined> {
  const row = await db
    .selectFrom("page_keys")
    .select(["owner", "token_hash", "token_expires_at"])
    .where("key_hash", "=", hashToken(code))
    .where("kind", "=", "link")
    .where("expires_at", ">", now)
    .where("address", "in", addresses)
    .executeTakeFirst();
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
