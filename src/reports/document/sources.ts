/** The sources of a report as they are listed: each page once, with the best title that is known. */

import { pageKey, webUrl } from "../web-address.ts";
import { isBareTitle, type Source } from "../report.ts";
import { onOneLine } from "../report-facts.ts";

export interface CitedSource {
  n: number;
  /** Further numbers that the text uses for the same page. */
  also?: number[];
  title: string;
  domain: string;
  /** http and https only. */
  url?: string;
  /** The ids of its citations in the text, in order. */
  cited_at: string[];
}

export interface SourceIndex {
  /** One per page. */
  listed: CitedSource[];
  byNumber: ReadonlyMap<number, CitedSource>;
}

export function indexSources(sources: readonly Source[]): SourceIndex {
  const byPage = new Map<string, CitedSource>();
  const byNumber = new Map<number, CitedSource>();
  const listed: CitedSource[] = [];
  for (const source of sources) {
    const { n, url, resolved_url: resolved = url } = source;
    const page = pageKey(resolved);
    const same = byPage.get(page);
    const cited = same ?? citedSource(source);
    if (same === undefined) {
      byPage.set(page, cited);
      listed.push(cited);
    } else if (same.n !== n) same.also = [...(same.also ?? []), n];
    if (!byNumber.has(n)) byNumber.set(n, cited);
  }
  return { listed, byNumber };
}

function citedSource({ n, title, domain, url, resolved_url: resolved }: Source): CitedSource {
  const site = onOneLine(domain);
  const safeUrl = webUrl((resolved ?? url).trim()) ?? webUrl(url.trim());
  const name = onOneLine(title) || site || "Source";
  return { n, title: name, domain: site, ...(safeUrl === undefined ? {} : { url: safeUrl }), cited_at: [] };
}

const MAX_LABEL_CHARACTERS = 200;

/** A page without a title of its own is called what the report calls it where it links to it. */
export function nameSource({ byNumber }: SourceIndex, { n, label }: { n: number; label: string }): void {
  const source = byNumber.get(n);
  const title = onOneLine(label);
  const isTitle = title.includes(" ") && title.length <= MAX_LABEL_CHARACTERS && !isBareTitle({ title, domain: "" });
  if (isTitle && source !== undefined && isBareTitle(source)) source.title = title;
}
