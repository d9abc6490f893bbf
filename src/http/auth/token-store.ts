/** Named access tokens in the database: added, listed, revoked, and checked with every request. */

import { LOCAL_OWNER } from "../../caller.ts";
import { AppError } from "../../errors.ts";
import type { Database } from "../../store/database.ts";
import { hashToken, newToken, sameHash } from "./tokens.ts";

export interface TokenEntry {
  name: string;
  createdAt: number;
  lastUsedAt: number | undefined;
  revokedAt: number | undefined;
}

const NAME = /^[a-z0-9._-]{1,64}$/;

/** Without this, every request would write to the database. */
const USE_RECORD_INTERVAL_MS = 60_000;

/** Returns the token; only its hash is stored. */
export async function addToken(db: Database, { name, now }: { name: string; now: number }): Promise<string> {
  checkName(name);
  const token = newToken();
  const added = await db
    .insertInto("access_tokens")
    .values({ token_hash: hashToken(token), name, created_at: now, last_used_at: null, revoked_at: null })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (added.numInsertedOrUpdatedRows === 1n) return token;
  throw new AppError({
    code: "INVALID_INPUT",
    message: `${name} already has a token.`,
    suggestion: `Revoke it first: gemini-search-mcp token revoke ${name}`,
  });
}

function checkName(name: string): void {
  if (name === LOCAL_OWNER) {
    throw new AppError({
      code: "INVALID_INPUT",
      message: `The name ${LOCAL_OWNER} is reserved for the server's own token.`,
      suggestion:
        "Choose another name. The server's own token is MCP_AUTH_TOKEN or the file token in the config directory.",
    });
  }
  if (NAME.test(name)) return;
  throw new AppError({
    code: "INVALID_INPUT",
    message: "A name must have 1 to 64 of these characters: a-z, 0-9, dot, underscore, hyphen.",
  });
}

export async function listTokens(db: Database): Promise<TokenEntry[]> {
  const rows = await db
    .selectFrom("access_tokens")
    .select(["name", "created_at", "last_used_at", "revoked_at"])
    .orderBy("name")
    .orderBy("created_at")
    .execute();
  return rows.map((row) => ({
    name: row.name,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  }));
}

export async function revokeToken(db: Database, { name, now }: { name: string; now: number }): Promise<void> {
  checkName(name);
  const revoked = await db
    .updateTable("access_tokens")
    .set({ revoked_at: now })
    .where("name", "=", name)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  if (revoked.numUpdatedRows > 0n) return;
  throw new AppError({
    code: "INVALID_INPUT",
    message: `There is no valid token named ${name}.`,
    suggestion: "List all tokens: gemini-search-mcp token list",
  });
}

/** The owner of a token. Read anew with every request, so that a revoked token is refused at once. */
export async function ownerOfToken(db: Database, hash: string, now: number): Promise<string | undefined> {
  const row = await db
    .selectFrom("access_tokens")
    .select(["token_hash", "name", "last_used_at"])
    .where("token_hash", "=", hash)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  if (row === undefined || !sameHash(row.token_hash, hash)) return undefined;
  if (now - (row.last_used_at ?? 0) >= USE_RECORD_INTERVAL_MS) void recordUse(db, hash, now);
  return row.name;
}

/** Owners by token hash, without revoked tokens. */
export async function ownersOfTokens(db: Database, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const distinct = [...new Set(hashes)];
  if (distinct.length === 0) return new Map();
  const rows = await db
    .selectFrom("access_tokens")
    .select(["token_hash", "name"])
    .where("token_hash", "in", distinct)
    .where("revoked_at", "is", null)
    .execute();
  return new Map(rows.map((row) => [row.token_hash, row.name]));
}

/** Not awaited, because a locked database would delay the request. */
async function recordUse(db: Database, hash: string, now: number): Promise<void> {
  await db
    .updateTable("access_tokens")
    .set({ last_used_at: now })
    .where("token_hash", "=", hash)
    .execute()
    // A full disk must not lock out the user.
    .catch(() => undefined);
}
