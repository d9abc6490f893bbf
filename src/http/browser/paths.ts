/**
 * Which addresses are the page's: for these a browser's cookie is good, and for nothing else. A path here is always the
 * one that the router matches (`context.req.path`): in a URL the same path has many spellings.
 */

const EXACT = new Set(["/", "/start", "/figures", "/sign-in", "/sign-out"]);
const BELOW = ["/runs/", "/assets/", "/api/", "/enter/"];

export const isPageAddress = (path: string): boolean =>
  EXACT.has(path) || BELOW.some((beginning) => path.startsWith(beginning));

/**
 * What a person can look at, with the filter of a list; nothing that leads to another host. A filter has whatever a
 * browser leaves as it is in an address: all of ASCII but blanks and `"#<>\`.
 */
const PLACE = /^\/(?:start|figures|runs\/[0-9a-f-]{36})?(?:\?[!$-;=?-[\]-~]{0,500})?$/;

/** Where somebody wanted to go before they were asked who they are; home when it is nowhere of ours. */
export const ownPlace = (wanted: string | null | undefined): string =>
  wanted !== null && wanted !== undefined && PLACE.test(wanted) ? wanted : "/";

/** The document of the page, which is the same for every user and holds nothing of theirs. */
const SHELL = /^\/(?:start|figures|runs\/[^/]+)?$/;

/** The cookie alone opens the files of the page; everything else, known or not, also needs the page's secret. */
export const needsSecret = (path: string): boolean => !SHELL.test(path) && !isPageFile(path);

export const isPageFile = (path: string): boolean => path.startsWith("/assets/");

export const isForScripts = (path: string): boolean => path.startsWith("/api/");
