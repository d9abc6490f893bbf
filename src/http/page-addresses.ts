/** Which addresses are the page's: for these a browser's cookie is good, and for nothing else. */

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

/** Everything that reads or acts; the rest are the files of the page, which are the same for everybody. */
export const needsSecret = (path: string): boolean => isForScripts(path) || path === "/sign-out";

export const isForScripts = (path: string): boolean => path.startsWith("/api/");
