/** Splits the sources of a report into pages: a list of a hundred thousand exceeds the message size that clients accept. */

import type { Source } from "../../reports/report.ts";

const MAX_SOURCES = 500;
const MAX_CHARACTERS = 400_000;

export interface SourcePage {
  sources: Source[];
  /** The `section` of the next page. */
  next: string | undefined;
  note: string | undefined;
}

export interface WantedPage {
  /** From 1. */
  number: number;
  maxSourceCharacters?: number | undefined;
}

/** Undefined if there is no such page. */
export function sourcePage(
  sources: readonly Source[],
  { number, maxSourceCharacters = MAX_CHARACTERS }: WantedPage,
): SourcePage | undefined {
  let start = 0;
  for (let page = 1; page < number; page += 1) {
    start = pageEnd(sources, start, maxSourceCharacters);
    if (start >= sources.length) return undefined;
  }
  const end = pageEnd(sources, start, maxSourceCharacters);
  const next = end < sources.length ? `sources~${number + 1}` : undefined;
  const note =
    next === undefined
      ? undefined
      : `Sources ${start + 1} to ${end} of ${sources.length}: read on with section ${next}.`;
  return { sources: sources.slice(start, end), next, note };
}

/** Index after the last source of the page; a page has at least one source, however long. */
function pageEnd(sources: readonly Source[], start: number, maxCharacters: number): number {
  let characters = 0;
  let end = start;
  while (end < sources.length && end - start < MAX_SOURCES) {
    const { title, url, resolved_url: resolved = "" } = sources[end] ?? { title: "", url: "" };
    characters += title.length + url.length + resolved.length;
    if (characters > maxCharacters && end > start) return end;
    end += 1;
  }
  return end;
}
