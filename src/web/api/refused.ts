/** Answers of the page's addresses: JSON that is never kept, and refusals in their one shape with a fitting status. */

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
  RATE_LIMITED: 429,
  BUSY: 429,
  GEMINI_UNAVAILABLE: 503,
  INTERRUPTED: 503,
  DISK_FULL: 507,
};

const OWN_STATUS = [413, 415, 503];

/** Of an error's code; a few say their own in their details. */
function statusOf({ error: { code, details } }: FailureAnswer): number {
  const known = OWN_STATUS.find((status) => status === details?.["status"]);
  return known ?? STATUS[code] ?? 500;
}

const RETRY_AFTER_S = 5;

export function answerOf(outcome: Outcome): Response {
  if (!outcome.failed) return asJson(outcome.structured);
  const response = asJson(outcome.structured, statusOf(outcome.structured));
  if (response.status === 429 || response.status === 503) response.headers.set("retry-after", String(RETRY_AFTER_S));
  return response;
}

/** Of whatever came from the web, nothing that a reader cannot see. */
export const asJson = (body: unknown, status = 200): Response =>
  Response.json(cleanValue(body), { status, headers: { "cache-control": "no-store" } });
