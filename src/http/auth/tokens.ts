/** Access tokens: generation, hashing, comparison, and extraction from a request. */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** 256 random bits cannot be guessed, so a plain hash without salt is enough. */
export const newToken = (): string => randomBytes(32).toString("base64url");

export const hashToken = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Compares digests in constant time, so that the time reveals neither the first difference nor the token's length. */
export const sameHash = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** Visible ASCII, as a header can carry it, and too long to be guessed at 60 attempts per minute. */
export const isStrongToken = (token: string): boolean => /^[\u0021-\u007E]{16,4096}$/.test(token);

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
