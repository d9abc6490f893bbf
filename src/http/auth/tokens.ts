/** What a token is: made, hashed, compared, and found in a request. */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** 256 bits: nobody guesses it, so a plain hash of it needs no salt and no slowness. */
export const newToken = (): string => randomBytes(32).toString("base64url");

export const hashToken = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Over digests of one length, so that the time tells neither where two tokens differ nor how long ours is. */
export const sameHash = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** What a header can carry in one word, and long enough not to be guessed at 60 tries a minute. */
export const isStrongToken = (token: string): boolean => /^[\u0021-\u007E]{16,4096}$/.test(token);

/** The longest JWTs of real issuers stay below half of it. */
const LONGEST_TOKEN = 8_192;

/** Only from its header: addresses are logged and bookmarked, and cookies come along by themselves. */
export function bearerToken(headers: Headers): string | undefined {
  const header = headers.get("authorization");
  if (header === null || header.length > LONGEST_TOKEN) return undefined;
  return /^Bearer +([\u0021-\u007E]+) *$/i.exec(header)?.[1];
}
