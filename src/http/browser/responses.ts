/** What the page's door answers itself: where to go, who is asked for, and what foreign pages are told. */

import { isForScripts, isPageFile, ownPlace } from "./paths.ts";
import { isSentByOthers } from "./same-origin.ts";
import { type Refusal, refuse } from "../error-response.ts";
import { signInPage } from "./login-page.ts";

/** A person gets a page to sign in; a program what to do. */
export function askWho(
  request: Request,
  { path, to, reason }: { path: string; to?: string; reason?: string },
): Response {
  const isShown = request.method === "GET" && readsHtml(request) && !isForScripts(path) && !isPageFile(path);
  if (!isShown) return refuse({ ...NOT_SIGNED_IN, message: reason ?? NOT_SIGNED_IN.message });
  return signInPage({
    status: 401,
    reason,
    to: to ?? ownPlace(`${path}${new URL(request.url).search}`),
    sentByOthers: isSentByOthers(request),
  });
}

const readsHtml = ({ headers }: Request): boolean => headers.get("accept")?.includes("text/html") === true;

export const seeOther = (location: string, cookie?: string): Response =>
  new Response(null, {
    status: 303,
    headers: { Location: location, ...(cookie === undefined ? {} : { "Set-Cookie": cookie }) },
  });

const NOT_SIGNED_IN: Refusal = {
  status: 401,
  code: "UNAUTHORIZED",
  message: "Nobody is signed in.",
  suggestion: "Open the page with `gemini-search-mcp dashboard`, or send a token as `Authorization: Bearer` to /api.",
};

/** The cookie came without what only the page itself can add. */
export const NO_SECRET: Refusal = {
  status: 401,
  code: "UNAUTHORIZED",
  message: "The cookie alone is not enough.",
  suggestion: "Sign in again, with `gemini-search-mcp dashboard` or a token.",
};

export const FOREIGN_PAGE: Refusal = {
  status: 403,
  code: "FORBIDDEN",
  message: "This was asked by another web page, not by the page of this server.",
  suggestion: "Open the page itself: gemini-search-mcp dashboard",
};
