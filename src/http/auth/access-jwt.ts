/** Verifies a JWT access token of the configured issuer and returns its owner, or why it is invalid. */

import { createHash } from "node:crypto";
import type { JWTPayload, JWTVerifyResult } from "jose";
import { createIssuerKeys, type IssuerOptions, IssuerUnavailable } from "./issuer.ts";
import { createBuckets } from "../rate-limit.ts";

export type JwtVerdict = { owner: string } | { invalid: string } | "issuer unavailable";

export interface AccessJwtOptions extends IssuerOptions {
  resource: string;
}

/** No HMAC algorithms: with a shared secret, every verifier could also sign tokens. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const CLOCK_TOLERANCE_S = 60;

/** With the same keys an issuer also signs other tokens, such as log-out tokens, which must not grant access. */
const TYPES = new Set(["jwt", "at+jwt", "application/at+jwt"]);

export const looksLikeJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);

export function createAccessJwt({ issuer, resource, log, now }: AccessJwtOptions) {
  const issuerKeys = createIssuerKeys({ issuer, log, ...(now === undefined ? {} : { now }) });
  const warnings = createBuckets({ perMinute: 1 });
  return async (token: string): Promise<JwtVerdict> => {
    const { jwtVerify } = await import("jose");
    // Unverified at this point: only keeps tokens of other issuers from causing requests to ours.
    if ((await claimedIssuer(token)) !== issuer) return { invalid: "It comes from another issuer." };
    try {
      const verified = await jwtVerify(token, await issuerKeys(), {
        issuer,
        audience: resource,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_S,
        requiredClaims: ["exp", "sub"],
      });
      return verdict(verified);
    } catch (error) {
      if (error instanceof IssuerUnavailable) return "issuer unavailable";
      const invalid = invalidReason(error, resource);
      if (invalid !== undefined) return { invalid };
      if (warnings("") === 0) log.warn(`A key of the OAuth issuer ${issuer} cannot be used.`);
      return "issuer unavailable";
    }
  };
}

/** Expiry of an accepted token, in milliseconds since the epoch. */
export async function expiryOf(token: string): Promise<number> {
  const { decodeJwt } = await import("jose");
  return (decodeJwt(token).exp ?? 0) * 1_000;
}

async function claimedIssuer(token: string): Promise<string | undefined> {
  const { decodeJwt } = await import("jose");
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

function verdict({ payload, protectedHeader }: JWTVerifyResult): JwtVerdict {
  if (protectedHeader.typ !== undefined && !TYPES.has(protectedHeader.typ.toLowerCase())) {
    return { invalid: "It is not an access token." };
  }
  const owner = ownerOf(payload);
  return owner === undefined ? { invalid: NO_SUBJECT } : { owner };
}

const NO_SUBJECT = "It has no subject (sub).";

/**
 * Two subjects must never map to one owner, so a subject is never shortened or cleaned: one that cannot be shown and
 * stored as it is becomes its hash. A named token cannot have such an owner, because its name has no colon.
 */
export function ownerOf({ sub, iss }: Pick<JWTPayload, "sub" | "iss">): string | undefined {
  if (typeof sub !== "string" || sub === "" || typeof iss !== "string") return undefined;
  if (/^[\w.@|:+/=-]{1,128}$/.test(sub)) return `${prefixOf(iss)}${sub}`;
  return `${prefixOf(iss)}~${sha256(sub)}`;
}

/** Subjects are unique per issuer only. */
const prefixOf = (issuer: string): string => `oauth:${sha256(issuer).slice(0, 12)}:`;

export const isOwnerOf = (issuer: string, owner: string): boolean => owner.startsWith(prefixOf(issuer));

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The library's error codes for an invalid token; all others are the issuer's fault. */
const TOKEN_FAULT =
  /^ERR_(?:JWT_|JWS_|JWKS_NO_MATCHING_KEY|JWKS_MULTIPLE_MATCHING_KEYS|JOSE_ALG_NOT_ALLOWED|JOSE_NOT_SUPPORTED)/;

function invalidReason(error: unknown, resource: string): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  if (error.code === "ERR_JWT_EXPIRED") return "It has expired.";
  if ("claim" in error && error.claim === "aud")
    return `It is not meant for this server: its audience must be ${resource}.`;
  if ("claim" in error && error.claim === "sub") return NO_SUBJECT;
  return TOKEN_FAULT.test(error.code) ? "It was not signed by the issuer, or its claims are not valid." : undefined;
}
