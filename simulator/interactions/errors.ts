/** How the Interactions API words its errors: a code in letters and a message, without status or details. */

import type { ErrorForm, Fault } from "../fault-names.ts";
import { errorReply, type GoogleError, isErrorName } from "../google-errors.ts";
import type { Reply } from "../models/wire.ts";

const CODES: Record<number, string> = {
  400: "invalid_request",
  401: "unauthenticated",
  403: "permission_denied",
  404: "not_found",
  429: "too_many_requests",
};

/** The same refusal in another form; what is not Google's error body stays as it is. */
export function inForm(reply: Reply, form: ErrorForm): Reply {
  if (form === "google" || reply.status < 400) return reply;
  const error = errorIn(reply);
  if (error === undefined) return reply;
  const { "retry-after": retryAfter, ...headers } = reply.headers;
  if (form === "array") return { ...reply, frames: [JSON.stringify([{ error }])] };
  const code = CODES[reply.status];
  // What was seen of 5xx came from Google's front end, in the form of its other APIs.
  if (code === undefined) return reply;
  return {
    status: reply.status,
    headers: { ...headers, ...(retryAfter !== undefined && { "retry-after": retryAfter }) },
    frames: [JSON.stringify({ error: { message: error.message, code } })],
  };
}

/** Faults that are an error answer of Google's, in the form that is wanted. */
export function faultReply(fault: Fault, retryAfter: string | undefined, form: ErrorForm): Reply | undefined {
  return isErrorName(fault) ? inForm(errorReply(fault, retryAfter), form) : undefined;
}

function errorIn({ frames }: Reply): GoogleError | undefined {
  try {
    return JSON.parse(frames.join("")).error;
  } catch {
    return undefined;
  }
}
