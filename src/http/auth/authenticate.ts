/** Who may come in over HTTP, and as whom: whoever sends a known token in the header. */

import { type Caller, LOCAL_OWNER, networkCaller } from "../../caller.ts";
import type { Credentials } from "./credentials.ts";
import type { Credential } from "../browser/login-key-store.ts";
import { refuse } from "../error-response.ts";
import { bearerToken } from "./tokens.ts";

export interface Authenticated {
  caller: Caller;
  /** What the caller is let in by; absent where no token is asked for. */
  credential?: Credential | undefined;
}

/** A response is a refusal, ready to be sent. */
export type Authenticate = (request: Request, about: { address: string }) => Promise<Authenticated | Response>;

/** Without credentials no token is asked for. */
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
