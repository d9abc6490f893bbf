/** JSON responses of the web API: never cached, errors in one shape with a matching HTTP status. */

import type { ErrorCode } from "../../errors.ts";
import type { FailureAnswer, Outcome } from "../../operations/perform.ts";
import { cleanValue } from "../../platform/clean-text.ts";

const STATUS: Partial<Record<ErrorCode, number>> = {
  INVALID_QUERY: 400,
  INVALID_TASK_ID: 400,
  INVALID_INPUT: 400,
  PERMISSION_DENIED: 403,
  TASK_NOT_FOUND: 404,
  RESEARCH_NOT_COMPLETED: 409,
  RESEARCH_ALREADY_COMPLETED: 409,
  RESEARCH_FAILED: 409,
  START_UNKNOWN: 409,
  CONFIRMATION_NEEDED: 409,
  CANCELLED: 409,
  BUSY: 429,
  GEMINI_UNAVAILABLE: 503,
  INTERRUPTED: 503,
  DISK_FULL: 507,
};

const STATUSES_IN_DETAILS = [404, 408, 413, 415, 503];

/** From the error's code, unless its details contain a status. */
function statusOf({ error: { code, details } }: FailureAnswer): number {
  const own = STATUSES_IN_DETAILS.find((status) => status === details?.["status"]);
  return own ?? STATUS[code] ?? 500;
}

const RETRY_AFTER_S = 5;

export function outcomeResponse(outcome: Outcome): Response {
  if (!outcome.failed) return jsonResponse(outcome.structured);
  const { structured, advice } = outcome;
  // The page has buttons for what can be done.
  const shown = { ...structured, error: { ...structured.error, suggestion: advice.suggestion } };
  const response = jsonResponse(shown, statusOf(structured));
  if (response.status === 429 || response.status === 503) response.headers.set("retry-after", String(RETRY_AFTER_S));
  return response;
}

/** Removes invisible characters from text that came from the web. */
export const jsonResponse = (body: unknown, status = 200): Response =>
  Response.json(cleanValue(body), { status, headers: { "cache-control": "no-store" } });
