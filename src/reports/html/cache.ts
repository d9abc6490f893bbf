/** Cache of recently rendered reports. */

import { hash } from "node:crypto";
import { type HtmlRequest, type ReportParts, renderReportParts } from "./html.ts";

type Render = (request: HtmlRequest) => Promise<ReportParts>;

/** A few of the longest reports, many of the usual ones. */
const MAX_CACHED_CHARACTERS = 8_000_000;

export const cachedReportParts: Render = createHtmlCache(renderReportParts, MAX_CACHED_CHARACTERS);

/** Keyed by content, not by run, because the report of a run can change. */
export function createHtmlCache(render: Render, maxCharacters: number): Render {
  const kept = new Map<string, { report: ReportParts; characters: number }>();
  /** A page requests the parts of a report at once; it is rendered only once. */
  const rendering = new Map<string, Promise<ReportParts>>();
  let characters = 0;
  const forget = (key: string): void => {
    characters -= kept.get(key)?.characters ?? 0;
    kept.delete(key);
  };
  const keep = (key: string, report: ReportParts): void => {
    // Re-inserting moves the entry to the end, so the first key is the least recently used one.
    forget(key);
    const size = JSON.stringify([report.sources, report.contents]).length;
    const added = report.parts.reduce((sum, { length }) => sum + length, size);
    kept.set(key, { report, characters: added });
    characters += added;
    for (const oldest of kept.keys()) {
      if (characters <= maxCharacters) break;
      forget(oldest);
    }
  };
  return async (request) => {
    const key = keyOf(request);
    const known = kept.get(key)?.report;
    const started = known === undefined ? (rendering.get(key) ?? render(request)) : Promise.resolve(known);
    if (known === undefined) rendering.set(key, started);
    try {
      const report = await started;
      keep(key, report);
      return report;
    } finally {
      rendering.delete(key);
    }
  };
}

const keyOf = ({ report, query, sources, citations = [], pictures = [] }: HtmlRequest): string =>
  hash("sha256", JSON.stringify([report, query, sources, citations, pictures]), "base64");
