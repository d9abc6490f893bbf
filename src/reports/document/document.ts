/**
 * A report as a parsed document: its blocks as markdown-it tokens, its citations resolved to sources, and the range in
 * the text of everything. HTML, terminal lines, numbered Markdown and claims are functions of it.
 */

import type { Env, MarkdownIt, Token } from "markdown-it";
import { type CitationNumbers, resolveCitationNumbers } from "../citations/citation-numbers.ts";
import { removeSourceList } from "../citations/own-source-list.ts";
import { type ByteCitation, type CitationPosition, locateCitations } from "../citations/positions.ts";
import { pageKey } from "../page-key.ts";
import type { Source } from "../report.ts";
import { webUrl } from "../web-url.ts";
import { addCitationMarks, addPositions } from "./citations.ts";
import { addFootnoteRules, definedFootnotes } from "./footnotes.ts";
import { addFormulaRules } from "./formulas.ts";
import { createParser } from "./parser.ts";
import { splitText, type TextPart } from "./parts.ts";

export interface Document {
  text: string;
  sources: readonly Source[];
  meant: CitationNumbers;
  /** Citations that are not written in the text, ascending. */
  positions: readonly CitationPosition[];
}

interface CitedReport {
  report: string;
  sources: readonly Source[];
  /** By byte offset, as Google sends them. */
  citations?: readonly ByteCitation[] | undefined;
}

/** A whole report of Google's agent, which cites by byte offset and by numbers of its own. */
export function locatedDocument({ report, sources, citations = [] }: CitedReport): Document {
  const { text, positions } = locateCitations(report, citations);
  return {
    text: removeSourceList(text, sources),
    sources,
    meant: resolveCitationNumbers({ report, sources, citations }),
    positions,
  };
}

/** A text in which `[1]` is the first source, as every answer without byte offsets has it. */
export function numberedDocument(text: string, sources: readonly Source[]): Document {
  const same = new Map(sources.map(({ n }) => [n, n]));
  return { text, sources, meant: { google: same, plain: same }, positions: [] };
}

export interface DocumentPart extends TextPart {
  tokens: Token[];
  /** Definitions of links, as in `[1]: url`, which are no blocks. */
  definitions: Token[];
  /** The parser, whose renderer knows the tokens. */
  md: MarkdownIt;
  env: Env;
  isFirst: boolean;
  /** Where the next part begins. */
  next: number | undefined;
}

export interface ParsedParts {
  /** Parsed one after the other, when they are asked for: parsing blocks the event loop. */
  parts: Generator<DocumentPart>;
  /** What is too much to be parsed. */
  rest: string;
}

export function parseParts({ text, sources, meant, positions }: Document): ParsedParts {
  const { parts, rest } = splitText(text);
  const env = parts.length > 1 ? linkDefinitions(text) : {};
  const notes = definedFootnotes(text);
  const known = new Set(sources.map(({ n }) => n).filter((n) => Number.isSafeInteger(n) && n >= 0));
  const context = { known, meant, numberOf: numbersByUrl(sources) };
  const citable = positions.filter(({ n }) => known.has(n));
  function* parsed(): Generator<DocumentPart> {
    for (const [at, part] of parts.entries()) {
      const next = parts[at + 1]?.start;
      const md = createParser();
      addCitationMarks(md, context);
      addFormulaRules(md);
      addFootnoteRules(md, notes);
      addPositions(md, positionsIn(citable, part, { isFirst: at === 0, next }));
      const definitions: Token[] = [];
      md.core.ruler.before("strip_references", "definitions", (state) => {
        definitions.push(...state.tokens.filter(({ type }) => type === "reference_definition"));
      });
      yield { ...part, tokens: md.parse(part.text, env), definitions, md, env, isFirst: at === 0, next };
    }
  }
  return { parts: parsed(), rest };
}

/** A citation at the end of a part belongs to the text before it. */
function positionsIn(
  positions: readonly CitationPosition[],
  { start, text, repeated }: TextPart,
  { isFirst, next }: { isFirst: boolean; next: number | undefined },
): CitationPosition[] {
  const end = next ?? start + text.length - repeated.length;
  return positions
    .filter(({ at }) => (at > start || isFirst) && at <= end)
    .map(({ at, n }) => ({ n, at: at - start + repeated.length }));
}

/** The number of the source with a URL, which may be a redirect link or its target. */
export function numbersByUrl(sources: readonly Source[]): (url: string) => number | undefined {
  const numbers = new Map<string, number>();
  for (const { n, url, resolved_url: resolved = url } of sources) {
    for (const spelling of [url, resolved]) {
      const key = pageKey(webUrl(spelling) ?? spelling);
      if (!numbers.has(key)) numbers.set(key, n);
    }
  }
  return (url) => numbers.get(pageKey(webUrl(url) ?? url));
}

const MAX_DEFINITIONS = 2_000;

/** `[1]: https://…` anywhere in the report defines links of every part. */
function linkDefinitions(text: string): Env {
  const env: Env = {};
  const lines = text.match(/^ {0,3}\[[^\]\n^][^\]\n]{0,100}\]:[ \t]*\S[^\n]{0,2000}$/gm) ?? [];
  createParser().parse(lines.slice(0, MAX_DEFINITIONS).join("\n\n"), env);
  return env;
}
