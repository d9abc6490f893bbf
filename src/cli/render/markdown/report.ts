/** Renders a report for a terminal, with its citations as the numbers of the list of sources. */

import markdownIt, { type Token } from "markdown-it";
import { type CitationNumbers, resolveCitationNumbers } from "../../../reports/citations/citation-numbers.ts";
import { removeSourceList } from "../../../reports/citations/own-source-list.ts";
import { type ByteCitation, type CitationPosition, locateCitations } from "../../../reports/citations/positions.ts";
import { addCitations } from "../../../reports/citations/rules.ts";
import { boundedText } from "../../../reports/markdown/bounded-text.ts";
import { boundInlineParsing } from "../../../reports/markdown/bounded-inline.ts";
import type { Source } from "../../../reports/report.ts";
import { webUrl } from "../../../reports/web-url.ts";
import { blockLines } from "./blocks.ts";
import type { Space } from "./words.ts";

/** A Markdown text whose citations are known. */
export interface CitedText {
  text: string;
  sources: readonly Source[];
  meant: CitationNumbers;
  /** Citations that are not written in the text. */
  positions: readonly CitationPosition[];
}

/** A text in which `[1]` is the first source, as every answer without byte offsets has it. */
export function numberedText(text: string, sources: readonly Source[]): CitedText {
  const same = new Map(sources.map(({ n }) => [n, n]));
  return { text, sources, meant: { google: same, plain: same }, positions: [] };
}

interface Located {
  report: string;
  sources: readonly Source[];
  /** By byte offset, as Google sends them. */
  citations: readonly ByteCitation[];
}

/** A whole report of Google's agent, which cites by byte offset and by numbers of its own. */
export function locatedText({ report, sources, citations }: Located): CitedText {
  const { text, positions } = locateCitations(report, citations);
  return {
    text: removeSourceList(text, sources),
    sources,
    meant: resolveCitationNumbers({ report, sources, citations }),
    positions,
  };
}

export function reportLines({ text, ...cited }: CitedText, space: Space): string[] {
  const urls = new Map(cited.sources.map((source) => [source.n, sourceUrl(source)]));
  const context = { ...space, sourceUrl: (n: number) => urls.get(n), writesUrls: space.link === undefined };
  const lines: string[] = [];
  // In parts, because parsing blocks the event loop.
  for (let from = 0; from < text.length;) {
    const part = boundedText(text.slice(from)).text;
    const positions = shifted(cited.positions, { from, length: part.length });
    const shown = blockLines(parse(part, { ...cited, positions }), context);
    lines.push(...(from === 0 || shown.length === 0 ? [] : [""]), ...shown);
    from += part.length;
  }
  return lines;
}

/** The page itself where it is known, else Google's link to it; http and https only. */
export const sourceUrl = ({ url, resolved_url: resolved }: Source): string | undefined =>
  webUrl((resolved ?? url).trim()) ?? webUrl(url.trim());

/** A citation at the end of a part belongs to the text before it. */
const shifted = (
  positions: readonly CitationPosition[],
  { from, length }: { from: number; length: number },
): CitationPosition[] =>
  positions
    .filter(({ at }) => (at > from || from === 0) && at <= from + length)
    .map(({ at, n }) => ({ at: at - from, n }));

function parse(text: string, { sources, meant, positions }: Omit<CitedText, "text">): Token[] {
  const md = markdownIt({ html: false, linkify: false, typographer: false });
  // Links are checked where they are shown; rejected here, a link would stay in the text as Markdown.
  md.validateLink = () => true;
  const byUrl = new Map(sources.flatMap(({ n, url }) => [[webUrl(url) ?? url, n]]));
  addCitations(md, {
    positions,
    known: new Set(sources.map(({ n }) => n)),
    meant,
    numberOf: (url) => byUrl.get(webUrl(url) ?? url),
  });
  boundInlineParsing(md);
  return md.parse(text, {});
}
