/** Decides whether two URLs are one page, where one of them may be a redirect link of Google's that hides its target. */

import { pageKey } from "../../reports/page-key.ts";
import { isRedirect, type Source } from "../../reports/report.ts";

type Address = Pick<Source, "url" | "resolved_url" | "domain">;

/** Google reports a page under the address that it was redirected to, often with another scheme or `www.`. */
const addressKey = (url: string): string =>
  pageKey(url)
    .replace(/^http:/, "https:")
    .replace("@www.", "@");

export const isSameAddress = (one: string, other: string): boolean => addressKey(one) === addressKey(other);

/**
 * A redirect link that was not resolved stands for any page of the domain in its title: Google names the domain, and
 * reports the page itself only under its own address.
 */
export function isPageOf({ url, resolved_url: resolved, domain }: Address, address: string): boolean {
  if (isSameAddress(url, address) || (resolved !== undefined && isSameAddress(resolved, address))) return true;
  return isRedirect(url) && resolved === undefined && isOnDomain(address, domain);
}

function isOnDomain(address: string, domain: string): boolean {
  if (domain === "" || isRedirect(`https://${domain}`) || !URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  const bare = domain.replace(/^www\./, "").toLowerCase();
  return hostname === bare || hostname.endsWith(`.${bare}`);
}
