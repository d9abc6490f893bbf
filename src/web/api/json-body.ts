/** Reads a JSON request body. Only JSON is accepted, because a form on a page of another origin cannot send it. */

import { AppError } from "../../errors.ts";
import { isRecord } from "../../platform/is-record.ts";

export const MAX_BODY_BYTES = 64 * 1024;

/** Average rate below which a body is refused: it would only occupy memory and, if it is large, one of few uploads. */
const MIN_BYTES_PER_SECOND = 10_000;
/** A connection may start slowly. */
const RATE_APPLIES_AFTER_S = 5;

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

/** Counts the bytes as they arrive: the Content-Length may be wrong. */
async function readBytes({ body }: Request, maxBytes: number): Promise<Uint8Array> {
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
