/** Errors of the Interactions API: a string code and a message, without status or details. */

import type { ErrorForm } from "../fault-names.ts";
import { errorNamed, errorReply, type ErrorName, type GoogleError } from "../google-errors.ts";
import type { Reply } from "../models/wire.ts";

/** The usual code of each HTTP status, from Google's table of API errors. */
const WORDS: Record<number, string> = {
  400: "invalid_request",
  401: "authentication",
  402: "payment_required",
  403: "permission_denied",
  404: "not_found",
  416: "out_of_range",
  429: "too_many_requests",
  499: "cancelled",
  500: "api_error",
  503: "service_unavailable",
  504: "deadline_exceeded",
};

interface SentError {
  /** The form that the scenario wants; in the default one, some errors have a form of their own. */
  form: ErrorForm;
  retryAfter?: string | undefined;
}

export function interactionsError(named: GoogleError | ErrorName, { form, retryAfter }: SentError): Reply {
  const reply = errorReply(named, retryAfter);
  const error = typeof named === "string" ? errorNamed(named) : named;
  const sent = form === "string" ? (error.form ?? form) : form;
  const { word = WORDS[error.code], message } = error;
  if (sent === "array") return { ...reply, frames: [`[${reply.frames.join("")}]`] };
  // The table has no code for the other statuses.
  if (sent === "google" || word === undefined) return reply;
  return { ...reply, frames: [JSON.stringify({ error: { message, code: word } })] };
}

const CONTENT_WORDS = ["prohibited_content", "safety", "recitation"];

/** Whether Google's filters refuse the question, before anything is stored. */
export const refusesContent = ({ word = "" }: GoogleError): boolean => CONTENT_WORDS.includes(word);

/** A refused question in a stream: one line of JSON that is no event. */
export const bareLine = (error: GoogleError): Reply => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  frames: [`${interactionsError(error, { form: "string" }).frames.join("")}\n`],
});
