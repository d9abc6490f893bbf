/** Counts the sources of a report that are outside the domains and dates that its caller wished for. */

import type { Source } from "./report.ts";
import { isRedirect } from "./report.ts";

export interface WishedSources {
  prefer_domains?: readonly string[] | undefined;
  avoid_domains?: readonly string[] | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

export interface OutsideSources {
  outside: number[];
  /** How many sources it is known of whether they are outside. */
  known: number;
}

/** Undefined if no domain was wished for. A source whose domain a redirect link hides is not counted. */
export function outsideDomains(sources: readonly Source[], wishes: WishedSources): OutsideSources | undefined {
  const { prefer_domains: preferred = [], avoid_domains: avoided = [] } = wishes;
  if (preferred.length + avoided.length === 0) return undefined;
  const known = sources.filter(({ domain }) => isKnownDomain(domain));
  const isOutside = ({ domain }: Source): boolean =>
    isWithin(domain, avoided) || (preferred.length > 0 && !isWithin(domain, preferred));
  return { outside: known.filter(isOutside).map(({ n }) => n), known: known.length };
}

const isKnownDomain = (domain: string): boolean => domain !== "" && !isRedirect(`https://${domain}`);

const isWithin = (domain: string, listed: readonly string[]): boolean =>
  listed.some((entry) => `.${domain.toLowerCase()}`.endsWith(`.${entry}`));

/** Undefined if no date was wished for. Google gives no dates: counted are sources whose address contains one. */
export function outsideDates(sources: readonly Source[], wishes: WishedSources): OutsideSources | undefined {
  const { since = "0000", until = "9999" } = wishes;
  if (wishes.since === undefined && wishes.until === undefined) return undefined;
  const known = sources.flatMap((source) => {
    const published = publishedIn(source);
    return published === undefined ? [] : [{ n: source.n, ...published }];
  });
  const outside = known.filter(({ first, last }) => last < since || first > until).map(({ n }) => n);
  return { outside, known: known.length };
}

interface Period {
  first: string;
  last: string;
}

/** `/2025/03/14/`, `/2025/03/` or `/2025-03-14-`, as news sites and blogs write it. */
const DATE_IN_PATH = /\/((?:19|20)\d\d)[/-](0[1-9]|1[0-2])(?:[/-](0[1-9]|[12]\d|3[01]))?(?=[/._-]|$)/;

function publishedIn({ url, resolved_url: resolved }: Source): Period | undefined {
  const address = resolved ?? url;
  if (!URL.canParse(address)) return undefined;
  const [, year, month, day] = DATE_IN_PATH.exec(new URL(address).pathname) ?? [];
  if (year === undefined) return undefined;
  // Compared as text: no month has a 32nd day.
  return { first: `${year}-${month}-${day ?? "01"}`, last: `${year}-${month}-${day ?? "31"}` };
}
