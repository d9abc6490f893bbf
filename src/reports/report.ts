/**
 * A report is a text and its sources, one per page, numbered as the text cites them. Both are stored as they are shown:
 * cleaned once, when they are received, and every position counts characters of the stored text.
 *
 * - `citations.ts`: how Google cites, in the text and beside it.
 * - `document/`: the one parser of the text. HTML (`html/`), Word (`docx/`), the terminal, numbered Markdown and claims are functions of it.
 * - `sections.ts` and `document/lines.ts` divide a text without parsing it.
 * - `markdown/` writes files for other programs, which disagree about what is code: it neutralizes the text instead of
 *   parsing it, and is the only second reader of Markdown.
 * - `gates/` decide whether a text is a report at all; `pictures/`, `table/`, `suggestions/` and `bibliography/` hold
 *   what comes with one; `files/` writes it to disk.
 */

import type { VisitedSource } from "../gemini/search-backend.ts";
import { pageKey } from "./web-address.ts";

export interface Source {
  n: number;
  title: string;
  url: string;
  /** The target of a redirect link, once it was resolved. */
  resolved_url?: string | undefined;
  domain: string;
  /** In answers: the last day of a redirect link whose target is not known. */
  link_expires?: string | undefined;
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

/** The sources of one report whose pages another does not have. A redirect link hides its page: then site and title count. */
export function addedSources(sources: readonly Source[], others: readonly Source[]): Source[] {
  const known = new Set(others.map(keyOf));
  return sources.filter((source) => !known.has(keyOf(source)));
}

const keyOf = ({ url, resolved_url: resolved = url, domain, title }: Source): string =>
  isRedirect(resolved) ? `${domain}\n${title}` : pageKey(resolved);

const REDIRECT_HOST = "vertexaisearch.cloud.google.com";

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : "");

/** Google's redirect link to a page: it expires, and hides its target. */
export const isRedirect = (url: string): boolean => hostOf(url) === REDIRECT_HOST;

/** The title of a redirect link is often the domain that the link hides. */
function domainOf(url: string, title: string): string {
  const host = hostOf(url);
  if (host === REDIRECT_HOST && /^[\w-]+(?:\.[\w-]+)+$/.test(title)) return title;
  return host.replace(/^www\./, "");
}

/** Google's redirect links have the domain as their title. */
export const isBareTitle = ({ title, domain }: Pick<Source, "title" | "domain">): boolean =>
  title === "" || title === domain || /^(?:https?:\/\/|www\.)?[\w-]+(?:\.[\w-]+)+(?:\/\S*)?$/i.test(title);

export const unique = (items: string[]): string[] => [...new Set(items)];
