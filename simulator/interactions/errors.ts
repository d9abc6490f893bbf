/** Errors of the Interactions API: a string code and a message, without status or details. */

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

/** Converts Google's error body to another form; other replies are returned unchanged. */
export function inErrorForm(reply: Reply, form: ErrorForm): Reply {
  if (form === "google" || reply.status < 400) return reply;
  const error = errorIn(reply);
  if (error === undefined) return reply;
  const { "retry-after": retryAfter, ...headers } = reply.headers;
  if (form === "array") return { ...reply, frames: [JSON.stringify([{ error }])] };
  const code = CODES[reply.status];
  // 5xx errors were only seen from Google's front end, in the form of its other APIs.
  if (code === undefined) return reply;
  return {
    status: reply.status,
    headers: { ...headers, ...(retryAfter !== undefined && { "retry-after": retryAfter }) },
    frames: [JSON.stringify({ error: { message: error.message, code } })],
  };
}

/** The reply for a fault that is an error of Google's; undefined for other faults. */
export function faultReply(fault: Fault, retryAfter: string | undefined, form: ErrorForm): Reply | undefined {
  return isErrorName(fault) ? inErrorForm(errorReply(fault, retryAfter), form) : undefined;
}

function errorIn({ frames }: Reply): GoogleError | undefined {
  try {
    return JSON.parse(frames.join("")).error;
  } catch {
    return undefined;
  }
}
