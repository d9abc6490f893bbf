/** Reads a JWT access token: whose it is if the issuer signed it for us and it still holds, else what is wrong with it. */

import { createHash } from "node:crypto";
import type { JWTPayload, JWTVerifyResult } from "jose";
import { createIssuerKeys, type IssuerOptions, IssuerUnavailable } from "./issuer.ts";
import { createBuckets } from "../rate-limit.ts";

export type JwtVerdict = { owner: string } | { invalid: string } | "issuer unavailable";

export interface AccessJwtOptions extends IssuerOptions {
  resource: string;
}

/** With a shared secret whoever can check a token could also make one, so none of those. */
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

/** An issuer also signs other things with the same keys, such as log-out notices; they are not for coming in. */
const TYPES = new Set(["jwt", "at+jwt", "application/at+jwt"]);

export const looksLikeJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);

export function createAccessJwt({ issuer, resource, log, now }: AccessJwtOptions) {
  const issuerKeys = createIssuerKeys({ issuer, log, ...(now === undefined ? {} : { now }) });
  const mentions = createBuckets({ perMinute: 1 });
  return async (token: string): Promise<JwtVerdict> => {
    const { jwtVerify } = await import("jose");
    // Read before it is believed, only so that strangers' tokens do not make us ask the issuer.
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
      const invalid = whatIsWrong(error, resource);
      if (invalid !== undefined) return { invalid };
      if (mentions("") === 0) log.warn(`A key of the OAuth issuer ${issuer} cannot be used.`);
      return "issuer unavailable";
    }
  };
}

/** When a token that was accepted runs out, in milliseconds. */
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
  return owner === undefined ? { invalid: "It names nobody (sub)." } : { owner };
}

/**
 * Two subjects must never become one owner, so nothing is cut or cleaned away: what is unfit to be shown and stored
 * as it is becomes its hash. Named tokens cannot have such an owner: their names have no colon.
 */
export function ownerOf({ sub, iss }: Pick<JWTPayload, "sub" | "iss">): string | undefined {
  if (typeof sub !== "string" || sub === "" || typeof iss !== "string") return undefined;
  if (/^[\w.@|:+/=-]{1,128}$/.test(sub)) return `${prefixOf(iss)}${sub}`;
  return `${prefixOf(iss)}~${sha256(sub)}`;
}

/** A subject is somebody at one issuer only. */
const prefixOf = (issuer: string): string => `oauth:${sha256(issuer).slice(0, 12)}:`;

export const isOwnerOf = (issuer: string, owner: string): boolean => owner.startsWith(prefixOf(issuer));

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The library's codes for what the holder of the token can do something about; the rest is the issuer's. */
const TOKEN_FAULT =
  /^ERR_(?:JWT_|JWS_|JWKS_NO_MATCHING_KEY|JWKS_MULTIPLE_MATCHING_KEYS|JOSE_ALG_NOT_ALLOWED|JOSE_NOT_SUPPORTED)/;

function whatIsWrong(error: unknown, resource: string): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  if (error.code === "ERR_JWT_EXPIRED") return "It has expired.";
  if ("claim" in error && error.claim === "aud")
    return `It is not meant for this server: its audience must be ${resource}.`;
  if ("claim" in error && error.claim === "sub") return "It names nobody (sub).";
  return TOKEN_FAULT.test(error.code) ? "It was not signed by the issuer, or its claims do not hold." : undefined;
}
