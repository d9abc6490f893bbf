/** Checks tokens of all three kinds: the server's own, named ones, and JWTs of a configured issuer. */

import type { App } from "../../app.ts";
import { AppError } from "../../errors.ts";
import { LOCAL_OWNER } from "../../caller.ts";
import { createAccessJwt, expiryOf, isOwnerOf, looksLikeJwt } from "./access-jwt.ts";
import { createFailedLogins } from "./failed-logins.ts";
import { type OAuthSettings, oauthResource } from "./oauth-metadata.ts";
import { type Credential, type KeyHolder, findOpenSessions } from "../browser/login-key-store.ts";
import { refuse } from "../error-response.ts";
import { localToken, type TokenSource } from "./token-file.ts";
import { ownerOfToken, ownersOfTokens } from "./token-store.ts";
import { hashToken, sameHash } from "./tokens.ts";

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
    code: "ISSUER_UNAVAILABLE",
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
