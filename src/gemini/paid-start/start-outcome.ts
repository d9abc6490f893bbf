/** Classifies the outcome of the one paid request: accepted, certainly not charged, or unknown. */

import { z } from "zod";
import type { AppError } from "../../errors.ts";
import type { StartOutcome } from "../research-agent.ts";
import { ResponseTooLarge } from "../transport/bounded-fetch.ts";
import { readInteraction } from "../interactions/reader.ts";
import { parseJson } from "../parse-json.ts";
import { retryAfterMs } from "./retry-after.ts";
import { type HttpResponse, NotSent, Withheld } from "./send-once.ts";

/** Statuses with which Google rejects a request before doing any work. */
const REFUSED = new Set([400, 401, 402, 403, 404, 413, 422, 429]);

const UNREADABLE: StartOutcome = { kind: "unknown", why: "Google's answer could not be read." };

/** Turns a refused response or a connection failure into one of our own error messages. */
export type Explain = (
  failure: { status: number; text: string } | { cause: unknown; host: string | undefined },
) => AppError;

/** Throws the error that cut the response, unless its id arrived. */
export function outcomeOfResponse(response: HttpResponse, explain: Explain): StartOutcome {
  const { status, text } = response;
  const isSuccess = status >= 200 && status < 300;
  // Any 2xx response with an id is a paid start, even if its end is missing: the first poll proves the id.
  const interactionId = isSuccess ? (readInteraction(parseJson(text))?.id ?? idInBeginning(text)) : undefined;
  if (interactionId !== undefined) return { kind: "accepted", interactionId };
  if (response.cut !== undefined) throw response.cut;
  if (isSuccess) return UNREADABLE;
  const error = explain(response);
  if (error.reason === "rate_limit") return { kind: "rate_limited", retryAfterMs: retryAfterMs(response), error };
  if (REFUSED.has(status) || (status === 503 && isGooglesUnavailable(text))) return { kind: "refused", status, error };
  const why = error.reason === "overloaded" ? error.message : `Google answered with HTTP ${status}.`;
  return { kind: "unknown", why };
}

/** A name with its value if that is a complete id, any other string even without its end, or a bracket. */
const TOKEN = /"id"\s*:\s*"([\w.=-]+)"|"(?:[^"\\]|\\[^])*(?:"|$)|[{}[\]]/g;

/** Far more than comes before the id. */
const MAX_SEARCHED_CHARACTERS = 65_536;

/** The id of an interaction whose JSON breaks off after it. Its steps and tool calls have ids, too. */
function idInBeginning(text: string): string | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  let depth = 0;
  for (const [token, id] of text.slice(0, MAX_SEARCHED_CHARACTERS).matchAll(TOKEN)) {
    if (id !== undefined && depth === 1) return id;
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
  }
  return undefined;
}

export function outcomeOfFailure(
  error: unknown,
  { limitMs, timedOut }: { limitMs: number; timedOut: boolean },
  explain: Explain,
): StartOutcome {
  if (error instanceof Withheld) return { kind: "withheld", error: error.reason };
  if (error instanceof NotSent) return { kind: "not_sent", error: explain({ cause: error.cause, host: error.host }) };
  if (error instanceof ResponseTooLarge) return UNREADABLE;
  if (timedOut) return { kind: "unknown", why: `Google did not answer within ${limitMs / 1_000} s.` };
  return { kind: "unknown", why: "The connection broke after the request was sent." };
}

/** The form in which Google's services write errors; a failing proxy or gateway sends something else. */
const googleError = z.object({ error: z.object({ code: z.literal(503), status: z.literal("UNAVAILABLE") }) });
const unavailable = z.union([googleError, z.tuple([googleError])]);

const isGooglesUnavailable = (text: string): boolean => unavailable.safeParse(parseJson(text)).success;
