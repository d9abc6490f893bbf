/** Decides which URLs a report may link to. */

/** Browsers reject longer URLs. */
const MAX_URL_CHARACTERS = 4_096;

/**
 * Returns the normalized URL; undefined unless it is http or https without user name and password, which can disguise
 * the host.
 */
export function webUrl(text: string): string | undefined {
  if (text.length > MAX_URL_CHARACTERS || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { href, protocol, username, password } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:") return undefined;
  return username === "" && password === "" ? href : undefined;
}

// Compares URLs by page; in doubt they are different pages. Sections of one page (fragments) are one source by design, and the URL found first represents it.

/** Parameters of advertisers, newsletters and analytics; no site selects content by them. */
const TRACKING = /^(?:utm_[a-z_]+|gclid|gclsrc|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|igshid|mc_cid|mc_eid)$/i;

/**
 * A position on a page. Other fragments, such as `#/users` and `#!topic`, may be routes of a single-page application.
 */
const ANCHOR = /^#(?:[\p{L}\p{N}_.%~-]*(?::~:.*)?)$/u;

/** Equal for URLs of one page: ignores anchor, tracking parameters and trailing slash. */
export function pageKey(url: string): string {
  if (url.length > MAX_URL_CHARACTERS || !URL.canParse(url)) return url;
  const { protocol, username, password, host, pathname, search, hash } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") return url;
  const parameters = search
    .slice(1)
    .split("&")
    .filter((parameter) => parameter !== "" && !TRACKING.test(parameter.split("=", 1)[0] ?? ""));
  const query = parameters.length === 0 ? "" : `?${parameters.join("&")}`;
  const route = ANCHOR.test(hash) ? "" : hash;
  return `${protocol}//${username}:${password}@${host}${pathname.replace(/\/$/, "")}${query}${route}`;
}
