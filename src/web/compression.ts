/**
 * Compresses responses of the web API and static files. Event streams are left alone, because a compressor would delay
 * events; so are responses that contain secrets (BREACH), which other routes send.
 */

import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { MiddlewareHandler } from "hono";

/** Below, compression saves no packet. */
const MIN_BYTES = 1_024;
const COMPRESSIBLE = /^(?:application\/json|text\/(?:html|markdown|javascript|css)|image\/svg\+xml)(?:;|$)/;
/** Not every path: a middleware of all paths would also count as the route of requests that are not for the page. */
export const COMPRESSED_ROUTES = ["/assets/*", "/api/runs/*", "/api/figures", "/api/estimate"];

type Encoding = "br" | "gzip";

/** Static files are compressed once; their number is that of the files in the build. */
const MAX_KEPT_FILES = 50;

export function compression(): MiddlewareHandler {
  const files = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();
  return async (context, next) => {
    await next();
    const { res: response, req: request } = context;
    if (!isCompressible(response)) return;
    response.headers.append("vary", "accept-encoding");
    const encoding = acceptedEncoding(request.header("accept-encoding") ?? "");
    if (encoding === undefined) return;
    const bytes = new Uint8Array(await response.arrayBuffer());
    const headers = new Headers(response.headers);
    headers.delete("content-length");
    // Hono copies the headers of a response that is replaced, unless it is removed first.
    context.res = undefined;
    if (bytes.length < MIN_BYTES) {
      context.res = new Response(bytes, { status: response.status, headers });
      return;
    }
    const etag = headers.get("etag");
    const key = `${encoding} ${etag}`;
    const compressed = etag === null ? compress(bytes, encoding, 4) : (files.get(key) ?? compress(bytes, encoding, 9));
    headers.set("content-encoding", encoding);
    if (etag !== null) {
      if (files.size < MAX_KEPT_FILES) files.set(key, compressed);
      // The bytes differ from those of the same file uncompressed, so the tag is a weak one.
      headers.set("etag", `W/${etag}`);
    }
    context.res = new Response(await compressed, { status: response.status, headers });
  };
}

const isCompressible = ({ body, headers }: Response): boolean =>
  body !== null &&
  COMPRESSIBLE.test(headers.get("content-type") ?? "") &&
  !headers.has("content-encoding") &&
  !headers.has("set-cookie");

/** Browsers accept Brotli only over https and on loopback. */
function acceptedEncoding(header: string): Encoding | undefined {
  const accepted = header
    .split(",")
    .map((part) => part.trim().toLowerCase())
    .filter((part) => !/;\s*q=0(?:\.0*)?$/.test(part))
    .map((part) => part.split(";")[0]);
  if (accepted.includes("br")) return "br";
  return accepted.includes("gzip") ? "gzip" : undefined;
}

const toBrotli = promisify(brotliCompress);
const toGzip = promisify<Uint8Array, { level: number }, Buffer>(gzip);

async function compress(bytes: Uint8Array, encoding: Encoding, level: number): Promise<Uint8Array<ArrayBuffer>> {
  const compressed =
    encoding === "br"
      ? await toBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: level } })
      : await toGzip(bytes, { level });
  return new Uint8Array(compressed);
}
