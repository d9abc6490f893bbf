/** Static files of the page, read once from the build, and the HTML document that loads them, with its policy. */

import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Hono } from "hono";
import type { App } from "../app.ts";
import { isRecord } from "../platform/is-record.ts";
import type { CallerEnv } from "../caller.ts";
import { NONCE_MARK } from "./wire.ts";

/** Relative to the bundle, which is in `dist/` or in `dist-failpoints/`. */
const DIRECTORY = new URL("../dist/page/", import.meta.url);

const TYPES = { ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8" };

interface Asset {
  bytes: Uint8Array<ArrayBuffer>;
  etag: string;
  type: string;
}

const SHELL_PATHS = ["/", "/costs", "/notifications", "/schedules", "/runs/:id", "/runs/:id/changes"];

export function serveAssets(web: Hono<CallerEnv>, { log }: Pick<App, "log">): void {
  let assets: Map<string, Asset> | undefined;
  for (const path of SHELL_PATHS) web.get(path, () => shell(randomBytes(16).toString("base64url")));
  // Its address before.
  web.get("/figures", (context) => context.redirect(`/costs${new URL(context.req.url).search}`, 301));
  web.get("/assets/:name", (context) => {
    assets ??= readAssets(log);
    const asset = assets.get(context.req.param("name"));
    return asset === undefined ? context.notFound() : serve(context.req.raw, asset);
  });
}

/** Never cached: its nonce is valid for one load. The page's script reads it for the frame of Search Suggestions. */
const shell = (nonce: string): Response =>
  new Response(SHELL.replace(NONCE_MARK, nonce), {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": pageCsp(nonce),
      "cache-control": "no-store",
    },
  });

/** Revalidated at every load, so that a new version is used at once. */
function serve(request: Request, { bytes, etag, type }: Asset): Response {
  const headers = { etag, "cache-control": "no-cache", "content-type": type };
  const known = request.headers.get("if-none-match")?.split(",") ?? [];
  // A proxy that compresses the file makes the tag a weak one.
  if (known.some((tag) => tag.trim().replace(/^W\//, "") === etag)) return new Response(null, { status: 304, headers });
  return new Response(bytes, { headers });
}

/** By their own names: none from a request ever becomes a path. */
function readAssets(log: App["log"]): Map<string, Asset> {
  try {
    const names = readdirSync(DIRECTORY);
    const files = Object.entries(TYPES).flatMap(([ending, type]) =>
      names.filter((name) => name.endsWith(ending)).map((name) => [name, type] as const),
    );
    return new Map(files.map(([name, type]) => [name, assetOf(readFileSync(new URL(name, DIRECTORY)), type)]));
  } catch (error) {
    const code = isRecord(error) ? String(error["code"]) : "unknown";
    log.warn(`The files of the page cannot be read (${code}). Reinstall the package.`);
    return new Map();
  }
}

const assetOf = (bytes: Buffer, type: string): Asset => ({
  bytes: new Uint8Array(bytes),
  etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 27)}"`,
  type,
});

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Ccircle cx='14' cy='14' r='9' fill='none' stroke='%233b6fd4' stroke-width='4'/%3E%3Cpath d='M21 21l8 8' stroke='%233b6fd4' stroke-width='4' stroke-linecap='round'/%3E%3C/svg%3E";

const SHELL = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>gemini-search-mcp</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/assets/page.css">
<script type="module" src="/assets/page.js" nonce="${NONCE_MARK}"></script>
</head>
<body>
<div id="page"></div>
<noscript>The page needs JavaScript. In a terminal, use gemini-search-mcp list.</noscript>
</body>
</html>
`;

/** The nonce of this load is for the styles in the frame of Search Suggestions, which inherits the policy. */
export const pageCsp = (styleNonce?: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${styleNonce === undefined ? "" : ` 'nonce-${styleNonce}'`}`,
    "connect-src 'self'",
    "img-src data:",
    "font-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types report",
  ].join("; ");
