/** A report as data: its sources, one entry per page, numbered in the order they were found. */

import type { VisitedSource } from "../gemini/search-backend.ts";
import { pageKey } from "./page-key.ts";

export interface Source {
  n: number;
  title: string;
  url: string;
  /** Where a redirect link leads, once somebody has looked. */
  resolved_url?: string | undefined;
  domain: string;
}

export function numberSources(visited: VisitedSource[]): Source[] {
  const byPage = new Map<string, VisitedSource>();
  for (const source of visited) {
    const page = pageKey(source.url);
    const known = byPage.get(page);
    if (known === undefined) byPage.set(page, source);
    else if (known.title === "" && source.title !== "") byPage.set(page, { ...source, url: known.url });
  }
  return [...byPage.values()].map(({ url, title }, index) => {
    const domain = domainOf(url, title);
    return { n: index + 1, title: title === "" ? domain : title, url, domain };
  });
}

const REDIRECT_HOST = "vertexaisearch.cloud.google.com";

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : "");

/** Google's own link to a page it found: it ends one day, and does not say where it leads. */
export const isRedirect = (url: string): boolean => hostOf(url) === REDIRECT_HOST;

/** Google's redirect links hide the site; its name is then what the title says. */
function domainOf(url: string, title: string): string {
  const host = hostOf(url);
  if (host === REDIRECT_HOST && /^[\w-]+(?:\.[\w-]+)+$/.test(title)) return title;
  return host.replace(/^www\./, "");
}

export const unique = (items: string[]): string[] => [...new Set(items)];
