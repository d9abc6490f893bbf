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
const REFUSED = new Set([400, 401, 403, 404, 413, 422]);

const UNREADABLE: StartOutcome = { kind: "unknown", why: "Google's answer could not be read." };

/** Turns a refused response or a connection failure into one of our own error messages. */
export type Explain = (
  failure: { status: number; text: string } | { cause: unknown; host: string | undefined },
) => AppError;

export function outcomeOfResponse(response: HttpResponse, explain: Explain): StartOutcome {
  const { status, text } = response;
  if (status >= 200 && status < 300) {
    // Any 2xx response with an id is a paid start.
    const interaction = readInteraction(parseJson(text));
    return interaction === undefined ? UNREADABLE : { kind: "accepted", interactionId: interaction.id };
  }
  if (status === 429) return { kind: "rate_limited", retryAfterMs: retryAfterMs(response), error: explain(response) };
  if (REFUSED.has(status) || (status === 503 && isGooglesUnavailable(text))) {
    return { kind: "refused", error: explain(response), status };
  }
  return { kind: "unknown", why: `Google answered with HTTP ${status}.` };
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
