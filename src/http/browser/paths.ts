/**
 * Paths of the page, the only ones for which a session cookie is accepted. A path here is always the one that the
 * router matches (`context.req.path`), because in a URL the same path has many spellings.
 */

import { isNavigation } from "../host-guard.ts";

const PATHS = new Set(["/", "/costs", "/figures", "/notifications", "/schedules", "/sign-in", "/sign-out"]);
const PREFIXES = ["/runs/", "/assets/", "/api/", "/enter/"];

export const isPagePath = (path: string): boolean =>
  PATHS.has(path) || PREFIXES.some((prefix) => path.startsWith(prefix));

/**
 * A view of the page, with the filter of a list as its query; nothing that leads to another host. The query has
 * the characters that a browser does not encode: all of ASCII but spaces and `"#<>\`.
 */
const REDIRECT_TARGET =
  /^\/(?:costs|figures|notifications|schedules|runs\/[0-9a-f-]{36}(?:\/changes)?)?(?:\?[!$-;=?-[\]-~]{0,500})?$/;

/** The view to open after signing in; the home view if the wanted target is not one of ours. */
export const safeRedirect = (wanted: string | null | undefined): string =>
  wanted !== null && wanted !== undefined && REDIRECT_TARGET.test(wanted) ? wanted : "/";

/** The HTML document of the page, which is the same for every user and contains no user data. */
const SHELL = /^\/(?:costs|figures|notifications|schedules|runs\/[^/]+(?:\/changes)?)?$/;

/** What a browser may be sent to besides the page's views. */
const OTHER_ADDRESSES = /^\/(?:sign-in$|sign-out$|enter\/|api\/|assets\/|mcp$|metrics$|health$|\.well-known\/)/;

/** Whether a person has followed a link, or typed an address, that does not exist. */
export const isMissingPage = (request: Request, path: string): boolean =>
  isNavigation(request) && !SHELL.test(path) && !OTHER_ADDRESSES.test(path);

/** The cookie alone grants access to the page's files; every other path, existing or not, needs the secret too. */
export const needsSecret = (path: string): boolean => !SHELL.test(path) && !isAssetPath(path);

export const isAssetPath = (path: string): boolean => path.startsWith("/assets/");

export const isApiPath = (path: string): boolean => path.startsWith("/api/");
