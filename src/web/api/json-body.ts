/** Reads a JSON request body. Only JSON is accepted, because a form on a page of another origin cannot send it. */

import { AppError } from "../../errors.ts";
import { isRecord } from "../../platform/is-record.ts";

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

/** Counts the bytes as they arrive: the Content-Length may be wrong. A slow body is ended by the server's time limit. */
async function readBytes({ body }: Request, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > maxBytes) throw unusable(`The body is larger than ${sizeText(maxBytes)}.`, 413);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

const sizeText = (bytes: number): string =>
  bytes < 1_000_000 ? `${bytes / 1_024} KB` : `${Math.floor(bytes / 1_000_000)} MB`;

const unusable = (message: string, status: number): AppError =>
  new AppError({ code: "INVALID_INPUT", message, details: { status } });
