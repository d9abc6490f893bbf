/** Counts the independent sites among sources, by the public suffix list: sub-domains of one owner are one site. */

import { getDomain } from "tldts";
import { isRedirect, type Source } from "./report.ts";

/** The domain that its owner registered, such as `example.co.uk`; undefined if a redirect link hides it. */
function registrableDomain({ url, resolved_url: resolved, domain }: SourceAddress): string | undefined {
  const address = resolved ?? (isRedirect(url) ? domain : url);
  // Pages of two users of one host, such as `a.github.io` and `b.github.io`, are independent.
  const found = getDomain(address, { allowPrivateDomains: true }) ?? undefined;
  return found === undefined || (isRedirect(`https://${domain}`) && resolved === undefined) ? undefined : found;
}

export type SourceAddress = Pick<Source, "url" | "resolved_url" | "domain">;

export const independentDomains = (sources: readonly SourceAddress[]): string[] => [
  ...new Set(sources.flatMap((source) => registrableDomain(source) ?? [])),
];
