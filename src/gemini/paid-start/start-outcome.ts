/** Reads what became of the one paid request: accepted, surely not charged, or unknown. */

import { z } from "zod";
import type { AppError } from "../../errors.ts";
import type { Begun } from "../research-agent.ts";
import { AnswerTooLong } from "../transport/bounded-fetch.ts";
import { readInteraction } from "../interactions/reader.ts";
import { parsedJson, retryAfterMs } from "./answer-fields.ts";
import { type Answer, NotSent, Withheld } from "./send-once.ts";

/** Google says so before it does anything. */
const REFUSED = new Set([400, 401, 403, 404, 413, 422]);

const UNREADABLE: Begun = { kind: "unknown", why: "Google's answer could not be read." };

/** In our own sentences, for a status or a fault. */
export type Explain = (
  failure: { status: number; text: string } | { cause: unknown; host: string | undefined },
) => AppError;

export function outcomeOfAnswer(answer: Answer, explain: Explain): Begun {
  const { status, text } = answer;
  if (status >= 200 && status < 300) {
    // Whatever the status says beyond success: an id was given, and it is paid for.
    const interaction = readInteraction(parsedJson(text));
    return interaction === undefined ? UNREADABLE : { kind: "accepted", interactionId: interaction.id };
  }
  if (status === 429) return { kind: "rate_limited", retryAfterMs: retryAfterMs(answer), error: explain(answer) };
  if (REFUSED.has(status) || (status === 503 && isGooglesUnavailable(text))) {
    return { kind: "refused", error: explain(answer) };
  }
  return { kind: "unknown", why: `Google answered with HTTP ${status}.` };
}

export function outcomeOfFault(
  fault: unknown,
  { limitMs, timedOut }: { limitMs: number; timedOut: boolean },
  explain: Explain,
): Begun {
  if (fault instanceof Withheld) return { kind: "withheld", error: fault.reason };
  if (fault instanceof NotSent) return { kind: "not_sent", error: explain({ cause: fault.cause, host: fault.host }) };
  if (fault instanceof AnswerTooLong) return UNREADABLE;
  if (timedOut) return { kind: "unknown", why: `Google did not answer within ${limitMs / 1_000} s.` };
  return { kind: "unknown", why: "The connection broke after the request was sent." };
}

/** As Google's own services write errors; a proxy or gateway that is out of order writes something else. */
const googleError = z.object({ error: z.object({ code: z.literal(503), status: z.literal("UNAVAILABLE") }) });
const unavailable = z.union([googleError, z.tuple([googleError])]);

const isGooglesUnavailable = (text: string): boolean => unavailable.safeParse(parsedJson(text)).success;
