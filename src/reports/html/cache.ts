/** Cache of recently rendered reports. */

import { createHash } from "node:crypto";
import { type HtmlRequest, type ReportHtml, renderReportHtml } from "./html.ts";

type Render = (request: HtmlRequest) => ReportHtml;

/** A few of the longest reports, many of the usual ones. */
const MAX_CACHED_CHARACTERS = 8_000_000;

export const cachedReportHtml: Render = createHtmlCache(renderReportHtml, MAX_CACHED_CHARACTERS);

/** Keyed by content, not by run, because the report of a run can change. */
export function createHtmlCache(render: Render, maxCharacters: number): Render {
  const kept = new Map<string, { html: ReportHtml; characters: number }>();
  let characters = 0;
  const forget = (key: string): void => {
    characters -= kept.get(key)?.characters ?? 0;
    kept.delete(key);
  };
  return (request) => {
    const key = keyOf(request);
    const html = kept.get(key)?.html ?? render(request);
    // Re-inserting moves the entry to the end, so the first key is the least recently used one.
    forget(key);
    const size = html.html.length + JSON.stringify([html.sources, html.contents]).length;
    kept.set(key, { html, characters: size });
    characters += size;
    for (const oldest of kept.keys()) {
      if (characters <= maxCharacters) break;
      forget(oldest);
    }
    return html;
  };
}

const keyOf = ({ report, query, sources, citations = [], pictures = [] }: HtmlRequest): string =>
  createHash("sha256")
    .update(JSON.stringify([report, query, sources, citations, pictures]))
    .digest("base64");
