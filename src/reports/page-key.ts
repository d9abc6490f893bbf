/**
 * Tells whether two addresses lead to the same page; in doubt they are different pages. Sections of one page, named by
 * different fragments, are one source by design: a source is a page, and the address found first stands for it.
 */

/** Set by advertisers, newsletters and analytics; no site chooses its content by them. */
const TRACKING = /^(?:utm_[a-z_]+|gclid|gclsrc|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|igshid|mc_cid|mc_eid)$/i;

/** A place on a page. Others, such as `#/users` and `#!topic`, may be routes of a page that is one program. */
const ANCHOR = /^#(?:[\p{L}\p{N}_.%~-]*(?::~:.*)?)$/u;

const MAX_ADDRESS_CHARACTERS = 4_096;

/** Equal for addresses of one page: without anchor, tracking parameters and closing slash. */
export function pageKey(address: string): string {
  if (address.length > MAX_ADDRESS_CHARACTERS || !URL.canParse(address)) return address;
  const { protocol, username, password, host, pathname, search, hash } = new URL(address);
  if (protocol !== "http:" && protocol !== "https:") return address;
  const parameters = search
    .slice(1)
    .split("&")
    .filter((parameter) => parameter !== "" && !TRACKING.test(parameter.split("=", 1)[0] ?? ""));
  const query = parameters.length === 0 ? "" : `?${parameters.join("&")}`;
  const place = ANCHOR.test(hash) ? "" : hash;
  return `${protocol}//${username}:${password}@${host}${pathname.replace(/\/$/, "")}${query}${place}`;
}
