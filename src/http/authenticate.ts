/** Who may come in over HTTP, and as whom: the server's own token, named tokens, and JWTs of a configured issuer. */

import type { App } from "../app.ts";
import { AppError } from "../errors.ts";
import type { Caller } from "../mcp/visit.ts";
import { createAccessJwt, looksLikeJwt } from "./access-jwt.ts";
import { createFailedAttempts } from "./failed-attempts.ts";
import { type OAuthSettings, oauthResource } from "./oauth.ts";
import { refuse } from "./refusal.ts";
import { localToken, type TokenPlace } from "./token-file.ts";
import { ownerOfToken } from "./token-store.ts";
import { bearerToken, hashToken, sameHash } from "./tokens.ts";

/** A response is a refusal, ready to be sent. */
export type Authenticate = (request: Request, about: { address: string }) => Promise<Caller | Response>;

/** What of the app it takes to know somebody. */
export interface AuthenticateApp extends TokenPlace {
  config: TokenPlace["config"] & { settings: OAuthSettings };
  deps: Pick<App["deps"], "database" | "clock">;
}

const fromNetwork = (owner: string): Caller => ({ owner, from: "network" });

export async function createAuthenticate(app: AuthenticateApp, { noAuth }: { noAuth: boolean }): Promise<Authenticate> {
  const { config, deps, log } = app;
  if (noAuth) {
    log.warn("No token is asked for: every program and user of this machine can use this server and your quota.");
    return async () => fromNetwork("local");
  }
  const oauth = oauthResource(config.settings);
  const readJwt = oauth === undefined ? undefined : createAccessJwt({ ...oauth, log });
  const challenge = createChallenge(oauth?.metadataUrl);
  const failed = createFailedAttempts({ log });
  const localHash = hashToken(await localToken(app));

  const identify = async (token: string): Promise<Identity> => {
    const hash = hashToken(token);
    if (sameHash(hash, localHash)) return fromNetwork("local");
    if (readJwt !== undefined && looksLikeJwt(token)) {
      const verdict = await readJwt(token);
      if (verdict === "issuer unavailable") return issuerUnavailable();
      return "owner" in verdict ? fromNetwork(verdict.owner) : verdict;
    }
    const owner = await ownerOfToken(await deps.database(), hash, deps.clock.now());
    return owner === undefined ? { invalid: "It is not known here, or was revoked." } : fromNetwork(owner);
  };

  return async (request, { address }) => {
    const token = bearerToken(request.headers);
    if (token === undefined) return challenge();
    const identity = await identify(token).catch(storeUnavailable);
    if (!("invalid" in identity)) return identity;
    return failed(address) ?? challenge(identity.invalid);
  };
}

type Identity = Caller | Response | { invalid: string };

/** RFC 6750: without a token the scheme alone, with a wrong one what is wrong; RFC 9728: where to get one. */
function createChallenge(metadataUrl: string | undefined): (invalid?: string) => Response {
  const where = metadataUrl === undefined ? [] : [`resource_metadata="${metadataUrl}"`];
  return (invalid) => {
    const what = invalid === undefined ? [] : ['error="invalid_token"', `error_description="${invalid}"`];
    return refuse({
      status: 401,
      code: "UNAUTHORIZED",
      message: invalid === undefined ? "A token is needed." : `The token is not accepted. ${invalid}`,
      suggestion: "Send the header `Authorization: Bearer` with the server's token or one of `token add`.",
      headers: { "WWW-Authenticate": ["Bearer", [...what, ...where].join(", ")].join(" ").trim() },
    });
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
function storeUnavailable(error: unknown): Response {
  if (!(error instanceof AppError)) throw error;
  const { code, message, suggestion = "Try again later." } = error;
  return refuse({ status: 503, code, message, suggestion, headers: { "Retry-After": "5" } });
}
