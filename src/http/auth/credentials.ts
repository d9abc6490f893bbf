/** Which tokens are known here and whose they are: the server's own, named ones, and JWTs of a configured issuer. */

import type { App } from "../../app.ts";
import { AppError } from "../../errors.ts";
import { LOCAL_OWNER } from "../../caller.ts";
import { createAccessJwt, expiryOf, isOwnerOf, looksLikeJwt } from "./access-jwt.ts";
import { createFailedAttempts } from "./failed-logins.ts";
import { type OAuthSettings, oauthResource } from "./oauth-metadata.ts";
import { type Credential, type KeyHolder, openSessions } from "../browser/login-key-store.ts";
import { refuse } from "../error-response.ts";
import { localToken, type TokenPlace } from "./token-file.ts";
import { ownerOfToken, ownersOfTokens } from "./token-store.ts";
import { hashToken, sameHash } from "./tokens.ts";

/** What of the app it takes to know somebody. */
export interface CredentialsApp extends TokenPlace {
  config: TokenPlace["config"] & { settings: OAuthSettings };
  deps: Pick<App["deps"], "database" | "clock">;
}

export interface Credentials {
  /** Who comes with a token; a response is a refusal that is not about the token. */
  check(token: string, about: { address: string }): Promise<KeyHolder | { invalid: string } | Response>;
  /** Whether a token that was good once still is. */
  stillGood(holder: KeyHolder): Promise<boolean>;
  /** Those that are no longer valid, found with at most two queries however many there are. */
  findRevoked(credentials: readonly Credential[]): Promise<ReadonlySet<Credential>>;
  /** Counts one wrong key; a response when there were too many. */
  countWrong(address: string): Response | undefined;
  /** The user at this machine. */
  own: KeyHolder;
  metadataUrl: string | undefined;
}

/** Undefined: no token is asked for. */
export async function createCredentials(
  app: CredentialsApp,
  { noAuth }: { noAuth: boolean },
): Promise<Credentials | undefined> {
  const { config, deps, log } = app;
  if (noAuth) {
    log.warn("No token is asked for: every program and user of this machine can use this server and your quota.");
    return undefined;
  }
  const oauth = oauthResource(config.settings);
  const readJwt = oauth === undefined ? undefined : createAccessJwt({ ...oauth, log });
  const countWrong = createFailedAttempts({ log });
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
    return owner === undefined ? { invalid: "It is not known here, or was revoked." } : { owner, tokenHash };
  };

  return {
    own,
    metadataUrl: oauth?.metadataUrl,
    countWrong,
    check: async (token, { address }) => {
      const known = await identify(token).catch(storeUnavailable);
      return "invalid" in known ? (countWrong(address) ?? known) : known;
    },
    stillGood: async ({ owner, tokenHash, tokenExpiresAt }) => {
      if (owner === own.owner) return sameHash(tokenHash, own.tokenHash);
      // It cannot be revoked, only run out; but the issuer may be trusted no more.
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
      const sessions = await openSessions(db, { credentials, now });
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
    message: "The token cannot be checked because its OAuth issuer is out of reach.",
    suggestion: "Try again in a few seconds. The server's own tokens work all the same.",
    headers: { "Retry-After": "5" },
  });

/** To tell somebody with a right token that it is wrong would make them throw it away. */
export function storeUnavailable(error: unknown): Response {
  if (!(error instanceof AppError)) throw error;
  const { code, message, suggestion = "Try again later." } = error;
  return refuse({ status: 503, code, message, suggestion, headers: { "Retry-After": "5" } });
}
