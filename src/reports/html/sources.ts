/** The sources of a report as they are listed: each page once, with the best title that is known. */

import { pageKey, webUrl } from "../web-address.ts";
import type { Source } from "../report.ts";
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

export function indexSources(sources: readonly Source[], report: string): SourceIndex {
  const titles = linkTitles(report);
  const byPage = new Map<string, CitedSource>();
  const byNumber = new Map<number, CitedSource>();
  const listed: CitedSource[] = [];
  for (const source of sources) {
    const { n, url, resolved_url: resolved = url } = source;
    const page = pageKey(resolved);
    const same = byPage.get(page);
    const cited = same ?? citedSource(source, titles);
    if (same === undefined) {
      byPage.set(page, cited);
      listed.push(cited);
    } else if (same.n !== n) same.also = [...(same.also ?? []), n];
    if (!byNumber.has(n)) byNumber.set(n, cited);
  }
  return { listed, byNumber };
}

function citedSource(source: Source, titles: ReadonlyMap<string, string>): CitedSource {
  const { n, title, domain, url, resolved_url: resolved } = source;
  const site = onOneLine(domain);
  const safeUrl = webUrl((resolved ?? url).trim()) ?? webUrl(url.trim());
  const given = onOneLine(title);
  const known = isBare(given, site) ? (titles.get(pageKey(resolved ?? url)) ?? titles.get(pageKey(url))) : undefined;
  const name = known ?? (given || site || "Source");
  return { n, title: name, domain: site, ...(safeUrl === undefined ? {} : { url: safeUrl }), cited_at: [] };
}

/** Google's redirect links have the domain as their title. */
const isBare = (title: string, domain: string): boolean =>
  title === "" || title === domain || /^(?:https?:\/\/|www\.)?[\w-]+(?:\.[\w-]+)+(?:\/\S*)?$/i.test(title);

const LINK = /\[([^\][\n]{6,200})\]\((https?:\/\/[^\s()]{1,2000})\)/g;
const MAX_LINKS = 2_000;

/** What the report itself calls the pages it links to. */
function linkTitles(report: string): Map<string, string> {
  const titles = new Map<string, string>();
  if (!report.includes("](http")) return titles;
  for (const [, text = "", url = ""] of report.matchAll(LINK)) {
    if (titles.size >= MAX_LINKS) break;
    const title = onOneLine(text.replaceAll(/[*_`]/g, ""));
    const key = pageKey(url);
    if (title.includes(" ") && !isBare(title, "") && !titles.has(key)) titles.set(key, title);
  }
  return titles;
}
