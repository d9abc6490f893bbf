/** JSON of the web API: responses are never cached, errors have one shape, and requests are read within bounds. */

import { AppError, type ErrorCode } from "../../errors.ts";
import type { FailureAnswer, Outcome } from "../../operations/perform.ts";
import { cleanValue } from "../../platform/clean-text.ts";
import { isRecord } from "../../platform/is-record.ts";

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
  BUDGET_EXCEEDED: 409,
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

export const MAX_BODY_BYTES = 64 * 1024;

export async function readJsonBody(request: Request, maxBytes = MAX_BODY_BYTES): Promise<Record<string, unknown>> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw unusable("The body must be JSON (Content-Type: application/json).", 415);
  const bytes = await readBytes(request, maxBytes);
  try {
    const body: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (isRecord(body) && !Array.isArray(body)) return body;
  } catch {
    // Reported below.
  }
  throw unusable("The body is not a JSON object.", 400);
}

/** Average rate below which a body is refused: it would only occupy memory and, if it is large, one of few uploads. */
const MIN_BYTES_PER_SECOND = 10_000;
/** A connection may start slowly. */
const RATE_APPLIES_AFTER_S = 5;

/** Counts the bytes as they arrive: the Content-Length may be wrong. */
export async function readBytes({ body }: Request, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  if (body === null) return Buffer.concat(pieces);
  const reader = body.getReader();
  let bytes = 0;
  let seconds = 0;
  let isTooSlow = false;
  const timer = setInterval(() => {
    seconds += 1;
    isTooSlow ||= bytes < (seconds - RATE_APPLIES_AFTER_S) * MIN_BYTES_PER_SECOND;
    if (isTooSlow) void reader.cancel().catch(() => {});
  }, 1_000);
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      bytes += read.value.length;
      if (bytes > maxBytes) throw unusable(`The body is larger than ${sizeText(maxBytes)}.`, 413);
      pieces.push(read.value);
    }
    if (isTooSlow) throw unusable("The body arrived too slowly.", 408);
    return Buffer.concat(pieces);
  } finally {
    clearInterval(timer);
    await reader.cancel().catch(() => {});
  }
}

const sizeText = (bytes: number): string =>
  bytes < 1_000_000 ? `${bytes / 1_024} KB` : `${Math.floor(bytes / 1_000_000)} MB`;

const unusable = (message: string, status: number): AppError =>
  new AppError({ code: "INVALID_INPUT", message, details: { status } });
