/** Authenticates HTTP requests by the bearer token in their Authorization header. */

import { type Caller, LOCAL_OWNER, networkCaller } from "../../caller.ts";
import type { Credentials } from "./credentials.ts";
import type { Credential } from "../browser/login-key-store.ts";
import { refuse } from "../error-response.ts";
import { bearerToken } from "./tokens.ts";

export interface Authenticated {
  caller: Caller;
  /** Absent if the server requires no token. */
  credential?: Credential | undefined;
}

/** Returns an error response if the request is not authenticated. */
export type Authenticate = (request: Request, about: { address: string }) => Promise<Authenticated | Response>;

/** Without credentials, no token is required. */
export function createAuthenticate(credentials: Credentials | undefined): Authenticate {
  if (credentials === undefined) return async () => ({ caller: networkCaller(LOCAL_OWNER) });
  const challenge = createChallenge(credentials.metadataUrl);
  return async (request, about) => {
    const token = bearerToken(request.headers);
    if (token === undefined) return challenge();
    const known = await credentials.check(token, about);
    if (known instanceof Response) return known;
    return "invalid" in known ? challenge(known.invalid) : { caller: networkCaller(known.owner), credential: known };
  };
}

/** RFC 6750: the scheme alone without a token, the error with an invalid one. RFC 9728: the metadata URL. */
function createChallenge(metadataUrl: string | undefined): (invalid?: string) => Response {
  const where = metadataUrl === undefined ? [] : [`resource_metadata="${metadataUrl}"`];
  return (invalid) => {
    const what = invalid === undefined ? [] : ['error="invalid_token"', `error_description="${invalid}"`];
    return refuse({
      status: 401,
      code: "UNAUTHORIZED",
      message: invalid === undefined ? "A token is required." : `The token is not accepted. ${invalid}`,
      suggestion: "Send the header `Authorization: Bearer` with the server's token or one from `token add`.",
      headers: { "WWW-Authenticate": ["Bearer", [...what, ...where].join(", ")].join(" ").trim() },
    });
  };
}
