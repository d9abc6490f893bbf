/** A report as data: its sources, numbered once, in the order they were found. */

import type { VisitedSource } from "../gemini/ask.ts";

export interface Source {
  n: number;
  title: string;
  url: string;
  /** Where a redirect link leads, once somebody has looked. */
  resolved_url?: string | undefined;
  domain: string;
}

export function numberSources(visited: VisitedSource[]): Source[] {
  const byUrl = new Map<string, VisitedSource>();
  for (const source of visited) {
    const known = byUrl.get(source.url);
    if (known === undefined || (known.title === "" && source.title !== "")) byUrl.set(source.url, source);
  }
  return [...byUrl.values()].map(({ url, title }, index) => {
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
