/**
 * Authenticates HTTP requests by the bearer token in their Authorization header. A token is the server's own, a named one,
 * or a JWT of a configured issuer; wrong ones are limited per network address, so that guessing is slow.
 */

import { isIPv6 } from "node:net";
import { type Caller, LOCAL_OWNER, networkCaller } from "../../caller.ts";
import { type Credential, findOpenSessions, type KeyHolder } from "../browser/sessions.ts";
import { refuse } from "../error-response.ts";
import {
  bearerToken,
  hashToken,
  localToken,
  ownerOfToken,
  ownersOfTokens,
  sameHash,
  type TokenSource,
} from "./tokens.ts";
import type { App } from "../../app.ts";
import { AppError } from "../../errors.ts";
import { createAccessJwt, expiryOf, isOwnerOf, looksLikeJwt, oauthResource, type OAuthSettings } from "./oauth.ts";
import type { Log } from "../../platform/log.ts";
import { ipv6Groups } from "../../platform/public-address.ts";
import { createBuckets, tooMany } from "../rate-limit.ts";

export interface Authenticated {
  caller: Caller;
  /** Absent if the server requires no token. */
  credential?: Credential | undefined;
  /** Key of the rate limit that the request counts towards. */
  budget: string;
  /** `Set-Cookie` with a new expiry, if the session of a browser was extended. */
  cookie?: string | undefined;
}

/** Returns an error response if the request is not authenticated. */
export type Authenticate = (request: Request, about: { address: string }) => Promise<Authenticated | Response>;

/** Without credentials, no token is required. */
export function createAuthenticate(credentials: Credentials | undefined): Authenticate {
  if (credentials === undefined) return async () => ({ caller: networkCaller(LOCAL_OWNER), budget: LOCAL_OWNER });
  const challenge = createChallenge(credentials.metadataUrl);
  return async (request, about) => {
    const token = bearerToken(request.headers);
    if (token === undefined) return challenge();
    const known = await credentials.check(token, about);
    if (known instanceof Response) return known;
    if ("invalid" in known) return challenge(known.invalid);
    return { caller: networkCaller(known.owner), credential: known, budget: known.owner };
  };
}

/** RFC 6750: the scheme alone without a token, the error with an invalid one. RFC 9728: the metadata URL. */
function createChallenge(metadataUrl: string | undefined): (invalid?: string) => Response {
  const where = metadataUrl === undefined ? [] : [`resource_metadata="${metadataUrl}"`];
  return (invalid) => {
    const what = invalid === undefined ? [] : ['error="invalid_token"', `error_description="${invalid}"`];
    return refuse({
      status: 401,
      code: "PERMISSION_DENIED",
      message: invalid === undefined ? "A token is required." : `The token is not accepted. ${invalid}`,
      suggestion: "Send the header `Authorization: Bearer` with the server's token or one from `token add`.",
      headers: { "WWW-Authenticate": ["Bearer", [...what, ...where].join(", ")].join(" ").trim() },
    });
  };
}

/** The part of the app that checking credentials needs. */
export interface CredentialsApp extends TokenSource {
  config: TokenSource["config"] & { settings: OAuthSettings };
  deps: Pick<App["deps"], "database" | "clock">;
}

export interface Credentials {
  /** The holder of a token; a response is an error other than an invalid token. */
  check(token: string, about: { address: string }): Promise<KeyHolder | { invalid: string } | Response>;
  /** Whether a token that was accepted before is still valid. */
  isStillValid(holder: KeyHolder): Promise<boolean>;
  /** Those that are no longer valid, found with at most two queries for any number of credentials. */
  findRevoked(credentials: readonly Credential[]): Promise<ReadonlySet<Credential>>;
  /** Counts one wrong token or link; returns a response when there were too many. */
  countFailure(address: string): Response | undefined;
  /** The holder of the server's own token: the user of this machine. */
  own: KeyHolder;
  metadataUrl: string | undefined;
}

/** Undefined with `noAuth`: no token is required. */
export async function createCredentials(
  app: CredentialsApp,
  { noAuth }: { noAuth: boolean },
): Promise<Credentials | undefined> {
  const { config, deps, log } = app;
  if (noAuth) {
    log.warn("No token is required: every program and user on this machine can use this server and your quota.");
    return undefined;
  }
  const oauth = oauthResource(config.settings);
  const readJwt = oauth === undefined ? undefined : createAccessJwt({ ...oauth, log });
  const countFailure = createFailedLogins({ log });
  const own: KeyHolder = { owner: LOCAL_OWNER, tokenHash: hashToken(await localToken(app)) };
  const namedOwner = async (hash: string): Promise<string | undefined> =>
    ownerOfToken(await deps.database(), hash, deps.clock.now());

  const identify = async (token: string): Promise<KeyHolder | { invalid: string } | Response> => {
    const tokenHash = hashToken(token);
    if (sameHash(tokenHash, own.tokenHash)) return own;
    if (readJwt !== undefined && looksLikeJwt(token)) {
      const verdict = await readJwt(token);
      if (verdict === "issuer unavailable") return issuerUnavailable();
      return "invalid" in verdict ? verdict : { ...verdict, tokenHash, tokenExpiresAt: await expiryOf(token) };
    }
    const owner = await namedOwner(tokenHash);
    return owner === undefined ? { invalid: "It is unknown or was revoked." } : { owner, tokenHash };
  };

  return {
    own,
    metadataUrl: oauth?.metadataUrl,
    countFailure,
    check: async (token, { address }) => {
      const known = await identify(token).catch(storeUnavailable);
      return "invalid" in known ? (countFailure(address) ?? known) : known;
    },
    isStillValid: async ({ owner, tokenHash, tokenExpiresAt }) => {
      if (owner === own.owner) return sameHash(tokenHash, own.tokenHash);
      // A JWT cannot be revoked and its expiry ends the session; but the issuer may no longer be configured.
      if (tokenExpiresAt !== undefined) return oauth !== undefined && isOwnerOf(oauth.issuer, owner);
      return (await namedOwner(tokenHash)) === owner;
    },
    findRevoked: async (credentials) => {
      const now = deps.clock.now();
      const isNamed = ({ owner, tokenExpiresAt }: Credential): boolean =>
        owner !== own.owner && tokenExpiresAt === undefined;
      const db = await deps.database();
      const owners = await ownersOfTokens(
        db,
        credentials.filter(isNamed).map(({ tokenHash }) => tokenHash),
      );
      const sessions = await findOpenSessions(db, { credentials, now });
      const isRevoked = (credential: Credential): boolean => {
        const { owner, tokenHash, tokenExpiresAt = Number.POSITIVE_INFINITY, sessionHash } = credential;
        if (tokenExpiresAt <= now || (isNamed(credential) && owners.get(tokenHash) !== owner)) return true;
        return sessionHash !== undefined && !sessions.has(sessionHash);
      };
      return new Set(credentials.filter(isRevoked));
    },
  };
}

const issuerUnavailable = (): Response =>
  refuse({
    status: 503,
    code: "BUSY",
    message: "The token cannot be checked because its OAuth issuer cannot be reached.",
    suggestion: "Try again in a few seconds. The server's own tokens still work.",
    headers: { "Retry-After": "5" },
  });

/** A 503 instead of a 401: a client would discard a valid token that is reported as wrong. */
export function storeUnavailable(error: unknown): Response {
  if (!(error instanceof AppError)) throw error;
  const { code, message, suggestion = "Try again later." } = error;
  return refuse({ status: 503, code, message, suggestion, headers: { "Retry-After": "5" } });
}

const PER_MINUTE = 60;

/** Counts one wrong token; returns a response when there were too many. */
type FailedLogin = (address: string) => Response | undefined;

export function createFailedLogins({ log, now }: { log: Log; now?: () => number }): FailedLogin {
  const clock = now === undefined ? {} : { now };
  const attempts = createBuckets({ perMinute: PER_MINUTE, ...clock });
  const warnings = createBuckets({ perMinute: 1, ...clock });
  return (address) => {
    const waitMs = attempts(networkOf(address));
    if (waitMs === 0) return undefined;
    if (warnings("") === 0) log.warn(`Too many invalid tokens from ${networkOf(address)}; rejecting them with 429.`);
    return tooMany(waitMs, "Too many invalid tokens were sent from this address.");
  };
}

/** An IPv6 /64 counts as one address, because one household has all of it. An IPv4-mapped address counts as IPv4. */
export function networkOf(address: string): string {
  const [plain = ""] = address.toLowerCase().split("%");
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(plain)) return plain;
  return `${ipv6Groups(plain).slice(0, 4).join(":")}::/64`;
}
