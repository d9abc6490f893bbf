/** Responses of the dashboard's authentication: the sign-in page, redirects and errors. */

import { isApiPath, isAssetPath, safeRedirect } from "./paths.ts";
import { isFromAnotherOrigin } from "./same-origin.ts";
import { type Refusal, refuse } from "../error-response.ts";
import { signInPage } from "./login-page.ts";

/** The sign-in page for a browser that navigates, a JSON error with status 401 for everything else. */
export function loginOr401(
  request: Request,
  { path, to, reason }: { path: string; to?: string; reason?: string },
): Response {
  const isBrowserView = request.method === "GET" && readsHtml(request) && !isApiPath(path) && !isAssetPath(path);
  if (!isBrowserView) return refuse({ ...NOT_SIGNED_IN, message: reason ?? NOT_SIGNED_IN.message });
  return signInPage({
    status: 401,
    reason,
    to: to ?? safeRedirect(`${path}${new URL(request.url).search}`),
    fromAnotherOrigin: isFromAnotherOrigin(request),
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
  message: "You are not signed in.",
  suggestion:
    "Open the dashboard with `gemini-search-mcp dashboard`, or send a token as `Authorization: Bearer` to /api.",
};

/** The request has the cookie, but not the secret that only the dashboard itself can add. */
export const SECRET_MISSING: Refusal = {
  status: 401,
  code: "UNAUTHORIZED",
  message: "The cookie alone is not enough.",
  suggestion: "Sign in again, with `gemini-search-mcp dashboard` or a token.",
};

export const OTHER_ORIGIN: Refusal = {
  status: 403,
  code: "FORBIDDEN",
  message: "This request came from another web page, not from this server's dashboard.",
  suggestion: "Open the dashboard: gemini-search-mcp dashboard",
};
