/** Named tokens in the database: added, listed, revoked from any process, and looked up with every request. */

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

/** Every request would be a write otherwise. */
const USE_NOTED_EVERY_MS = 60_000;

/** The token, which nobody can be told again. */
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
    message: `${name} has a token already.`,
    suggestion: `Revoke it first: gemini-search-mcp token revoke ${name}`,
  });
}

function checkName(name: string): void {
  if (name === LOCAL_OWNER) {
    throw new AppError({
      code: "INVALID_INPUT",
      message: `The name ${LOCAL_OWNER} stands for the server's own token.`,
      suggestion: "That one is MCP_AUTH_TOKEN or the file token in the config directory. Choose another name.",
    });
  }
  if (NAME.test(name)) return;
  throw new AppError({
    code: "INVALID_INPUT",
    message: "A name has 1 to 64 of these characters: a-z, 0-9, dot, underscore, hyphen.",
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
    message: `${name} has no token that could be revoked.`,
    suggestion: "See who has one: gemini-search-mcp token list",
  });
}

/** Whose token it is. Asked anew with every request, so that a revoked one is refused from that moment on. */
export async function ownerOfToken(db: Database, hash: string, now: number): Promise<string | undefined> {
  const row = await db
    .selectFrom("access_tokens")
    .select(["token_hash", "name", "last_used_at"])
    .where("token_hash", "=", hash)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  if (row === undefined || !sameHash(row.token_hash, hash)) return undefined;
  if (now - (row.last_used_at ?? 0) >= USE_NOTED_EVERY_MS) await noteUse(db, hash, now);
  return row.name;
}

/** Owners by token hash; a token that was revoked has none. */
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

async function noteUse(db: Database, hash: string, now: number): Promise<void> {
  await db
    .updateTable("access_tokens")
    .set({ last_used_at: now })
    .where("token_hash", "=", hash)
    .execute()
    // A full disk must lock nobody out.
    .catch(() => undefined);
}
