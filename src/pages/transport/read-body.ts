/** Reads a response body within bounds: bytes as received and, so that a decompression bomb is cut, as decoded. */

import type { IncomingMessage } from "node:http";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import type { PageLimits } from "../limits.ts";
import { TooLargeError, UnusableResponseError } from "./fetch-errors.ts";

export const ACCEPTED_CODINGS = "gzip, br, zstd, deflate";

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(),
  "x-gzip": () => createGunzip(),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress(),
  deflate: () => createInflate(),
};

type BodyLimits = Pick<PageLimits, "wireBytes" | "textBytes">;

export async function readBody(response: IncomingMessage, limits: BodyLimits, signal: AbortSignal): Promise<Buffer> {
  const decoder = decoderOf(response.headers["content-encoding"]);
  const chunks: Buffer[] = [];
  const collect = bounded(limits.textBytes, (chunk) => chunks.push(chunk));
  const wire = bounded(limits.wireBytes);
  const stages = decoder === undefined ? [wire, collect] : [wire, decoder, collect];
  collect.resume();
  await pipeline([response, ...stages], { signal });
  return Buffer.concat(chunks);
}

/** Two codings in a row are never sent by a normal server, and multiply what a bomb can hold. */
function decoderOf(header: string | undefined): Transform | undefined {
  const codings = (header ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
  const [coding, second] = codings;
  if (coding === undefined) return undefined;
  const create = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  if (create === undefined || second !== undefined) {
    throw new UnusableResponseError("The host sent the page in a coding that is not supported.");
  }
  return create();
}

/** Passes chunks on until there are too many bytes. With `keep`, chunks end here. */
function bounded(maxBytes: number, keep?: (chunk: Buffer) => void): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) return done(new TooLargeError());
      if (keep === undefined) return done(null, chunk);
      keep(chunk);
      done();
    },
  });
}
