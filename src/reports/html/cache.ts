/** The reports that were shown last, so that to load one again costs nothing. */

import { createHash } from "node:crypto";
import { type HtmlRequest, type ReportHtml, renderReportHtml } from "./html.ts";

type Render = (request: HtmlRequest) => ReportHtml;

/** A few of the longest, many of the usual ones. */
const MOST_CHARACTERS = 8_000_000;

export const rememberedHtml: Render = createHtmlMemory(renderReportHtml, MOST_CHARACTERS);

/** By what is rendered and not by its run: a report that arrives after all is another one. */
export function createHtmlMemory(render: Render, mostCharacters: number): Render {
  const kept = new Map<string, { html: ReportHtml; characters: number }>();
  let characters = 0;
  const forget = (key: string): void => {
    characters -= kept.get(key)?.characters ?? 0;
    kept.delete(key);
  };
  return (request) => {
    const key = keyOf(request);
    const html = kept.get(key)?.html ?? render(request);
    // Taken out and put in again, the one that was asked for last stands last.
    forget(key);
    const size = html.html.length + JSON.stringify([html.sources, html.contents]).length;
    kept.set(key, { html, characters: size });
    characters += size;
    for (const oldest of kept.keys()) {
      if (characters <= mostCharacters) break;
      forget(oldest);
    }
    return html;
  };
}

const keyOf = ({ report, query, sources, citations = [], pictures = [] }: HtmlRequest): string =>
  createHash("sha256")
    .update(JSON.stringify([report, query, sources, citations, pictures]))
    .digest("base64");
