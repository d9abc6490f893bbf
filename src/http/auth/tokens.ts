/**
 * Access tokens. The server's own comes from the settings, or from a file that the first server to start creates; named
 * ones are hashes in the database. Both are accepted in the Authorization header only.
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { chmod, link, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { AppError, invalidInput } from "../../errors.ts";
import type { Log } from "../../platform/log.ts";
import { errorCodeOf } from "../../platform/error-code.ts";
import { LOCAL_OWNER } from "../../caller.ts";
import type { Database } from "../../store/database.ts";

/** 256 random bits cannot be guessed, so a plain hash without salt is enough. */
export const newToken = (): string => randomBytes(32).toString("base64url");

export const hashToken = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Compares digests in constant time, so that the time reveals neither the first difference nor the token's length. */
export const sameHash = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** Visible ASCII, as a header can carry it, and too long to be guessed at 60 attempts per minute. */
const isStrongToken = (token: string): boolean => /^[\u0021-\u007E]{16,4096}$/.test(token);

/** At least twice the longest JWTs of real issuers. */
const MAX_HEADER_CHARACTERS = 8_192;

/**
 * Only from the header: URLs are logged and bookmarked, and browsers send cookies automatically. `hono/bearer-auth`
 * accepts no lower-case scheme, and its check cannot answer 429 or with the reason of RFC 6750.
 */
export function bearerToken(headers: Headers): string | undefined {
  const header = headers.get("authorization");
  if (header === null || header.length > MAX_HEADER_CHARACTERS) return undefined;
  return /^Bearer +([\u0021-\u007E]+) *$/i.exec(header)?.[1];
}

export interface TokenSource {
  config: Pick<Config, "configDir" | "configDirWritable"> & { settings: { MCP_AUTH_TOKEN: string | undefined } };
  log: Log;
}

export async function localToken({ config, log }: TokenSource): Promise<string> {
  const { MCP_AUTH_TOKEN: given } = config.settings;
  if (given !== undefined) return checked(given);
  const file = join(config.configDir, "token");
  const kept = await readToken(file, log);
  if (kept !== undefined) {
    log.announce(`The access token is in ${file}.`);
    return kept;
  }
  const token = newToken();
  if (config.configDirWritable) {
    const result = await createTokenFile(file, token);
    if (result === "created") {
      log.announce(`Access token: ${token}\nSaved in ${file}; shown only once.`);
      return token;
    }
    // Another server was faster: its token counts.
    const existing = result === "exists" ? await readToken(file, log) : undefined;
    if (existing !== undefined) return existing;
  }
  log.warn(
    `Access token: ${token}\nValid until this server stops, because ${file} cannot be written. Make the config directory writable or set MCP_AUTH_TOKEN.`,
  );
  return token;
}

/** The token that a server of this installation requires, if it is known; none is created. */
export async function keptToken({ config, log }: TokenSource): Promise<string | undefined> {
  const { MCP_AUTH_TOKEN: given } = config.settings;
  return given === undefined ? readToken(join(config.configDir, "token"), log) : checked(given);
}

function checked(token: string): string {
  if (isStrongToken(token)) return token;
  throw invalidInput("MCP_AUTH_TOKEN cannot be used: it needs 16 to 4096 characters, ASCII, without spaces.", {
    suggestion: "Set a longer one, or unset it: then one is generated and saved in the config directory.",
  });
}

async function readToken(file: string, log: Log): Promise<string | undefined> {
  let content: string;
  try {
    content = await readFile(file, "utf8");
  } catch (error) {
    if (errorCodeOf(error) === "ENOENT") return undefined;
    throw new AppError({
      code: "PERMISSION_DENIED",
      message: `The token file ${file} cannot be read.`,
      suggestion: "Make it readable for the user who runs the server, or set MCP_AUTH_TOKEN.",
      cause: error,
    });
  }
  const token = content.trim();
  if (!isStrongToken(token)) {
    throw invalidInput(
      `The token file ${file} contains no usable token: it needs 16 to 4096 characters, ASCII, without spaces.`,
      { suggestion: "Delete it: the next start creates a new one." },
    );
  }
  await makePrivate(file, log);
  return token;
}

/** Windows has no such modes: there the user's own directory protects the file. */
async function makePrivate(file: string, log: Log): Promise<void> {
  if (process.platform === "win32") return;
  const { mode } = await stat(file);
  if ((mode & 0o077) === 0) return;
  const done = await chmod(file, 0o600).then(
    () => "It is private now, but anyone who has read it knows the token: delete the file to get a new one.",
    () => "It could not be made private.",
  );
  log.warn(`Other users of this machine could read the token file ${file}. ${done}`);
}

/** Written to a temporary file and then linked: the file is always complete, and only one process creates it. */
async function createTokenFile(file: string, token: string): Promise<"created" | "exists" | "failed"> {
  const temporary = `${file}.${crypto.randomUUID()}.tmp`;
  try {
    await writePrivateFile(temporary, token);
    await link(temporary, file).catch(async (error: unknown) => {
      // Some file systems have no hard links; there, exclusive creation has to suffice.
      if (errorCodeOf(error) === "EEXIST") throw error;
      await writePrivateFile(file, token);
    });
    return "created";
  } catch (error) {
    return errorCodeOf(error) === "EEXIST" ? "exists" : "failed";
  } finally {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

const writePrivateFile = (file: string, token: string): Promise<void> =>
  writeFile(file, `${token}\n`, { flag: "wx", mode: 0o600, flush: true });

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
  throw invalidInput(`${name} already has a token.`, {
    suggestion: `Revoke it first: gemini-search-mcp token revoke ${name}`,
  });
}

function checkName(name: string): void {
  if (name === LOCAL_OWNER) {
    throw invalidInput(`The name ${LOCAL_OWNER} is reserved for the server's own token.`, {
      suggestion:
        "Choose another name. The server's own token is MCP_AUTH_TOKEN or the file token in the config directory.",
    });
  }
  if (NAME.test(name)) return;
  throw invalidInput("A name must have 1 to 64 of these characters: a-z, 0-9, dot, underscore, hyphen.");
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
  throw invalidInput(`There is no valid token named ${name}.`, {
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
