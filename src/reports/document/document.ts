/**
 * A report as a parsed document: its blocks as markdown-it tokens, its citations resolved to sources, and the range in
 * the text of everything. HTML, terminal lines, numbered Markdown and claims are functions of it.
 */

import type { Env, MarkdownIt, Token } from "markdown-it";
import { replaceAt } from "../../platform/clean-text.ts";
import {
  type CitationNumbers,
  type CitedText,
  type PlacedCitations,
  placeCitations,
  removeSourceList,
  resolveCitationNumbers,
  START_MARK,
} from "../citations.ts";
import { pageKey, webUrl } from "../web-address.ts";
import type { Source } from "../report.ts";
import { addCitations } from "./citation-tokens.ts";
import { addFootnoteRules, definedFootnotes } from "./footnotes.ts";
import { addFormulaRules } from "./formulas.ts";
import { createParser } from "./parser.ts";
import { splitText, type TextPart } from "./parts.ts";

export interface Document {
  text: string;
  sources: readonly Source[];
  meant: CitationNumbers;
  placed: PlacedCitations;
}

export const NONE_PLACED: PlacedCitations = { marks: [], positions: [] };

/** A whole report of Google's agent, which cites by ranges and by numbers of its own. */
export function locatedDocument({ report, sources, citations = [] }: CitedText): Document {
  const { text, positions } = replaceAt(report, {
    steps: [[START_MARK, ""]],
    positions: citations.map(({ end }) => end),
  });
  const moved = citations.map(({ n, end }) => ({ n, start: 0, end: positions.get(end) ?? text.length }));
  return {
    text: removeSourceList(text, sources),
    sources,
    meant: resolveCitationNumbers({ report: text, sources, citations: moved }),
    placed: placeCitations(text, moved),
  };
}

/** A text in which `[1]` is the first source, as every answer without byte offsets has it. */
export function numberedDocument(text: string, sources: readonly Source[]): Document {
  const same = new Map(sources.map(({ n }) => [n, n]));
  return { text, sources, meant: { google: same, plain: same }, placed: NONE_PLACED };
}

/** A document within one that lists more sources: with the numbers that its sources have there. */
export function renumbered(
  { text, meant, placed }: Document,
  { numbers, sources }: { numbers: ReadonlyMap<number, number>; sources: readonly Source[] },
): Document {
  const numberOf = (n: number): number => numbers.get(n) ?? n;
  const mapped = (known: ReadonlyMap<number, number>) =>
    new Map([...known].map(([n, source]) => [n, numberOf(source)]));
  return {
    text,
    sources,
    meant: { google: mapped(meant.google), plain: mapped(meant.plain) },
    placed: {
      marks: placed.marks.map((mark) => ({ ...mark, sources: mark.sources.map(numberOf) })),
      positions: placed.positions.map(({ at, n }) => ({ at, n: numberOf(n) })),
    },
  };
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

export function parseParts({ text, sources, meant, placed }: Document, numberOf = numbersByUrl(sources)): ParsedParts {
  const { parts, rest } = splitText(text);
  const env = parts.length > 1 ? linkDefinitions(text) : {};
  const notes = definedFootnotes(text);
  const known = new Set(sources.map(({ n }) => n).filter((n) => Number.isSafeInteger(n) && n >= 0));
  const context = { known, meant, numberOf };
  function* parsed(): Generator<DocumentPart> {
    for (const [at, part] of parts.entries()) {
      const next = parts[at + 1]?.start;
      const md = createParser();
      addCitations(md, context, placedIn(placed, part, { isFirst: at === 0, next }));
      addFormulaRules(md);
      addFootnoteRules(md, notes);
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
function placedIn(
  { marks, positions }: PlacedCitations,
  { start, text, repeated }: TextPart,
  { isFirst, next }: { isFirst: boolean; next: number | undefined },
): PlacedCitations {
  const last = next ?? start + text.length - repeated.length;
  const offset = repeated.length - start;
  return {
    marks: marks
      .filter((mark) => mark.start >= start && mark.end <= last)
      .map((mark) => ({ ...mark, start: mark.start + offset, end: mark.end + offset })),
    positions: positions
      .filter(({ at }) => (at > start || isFirst) && at <= last)
      .map(({ at, n }) => ({ n, at: at + offset })),
  };
}

/** The number of the source with a URL, which may be a redirect link or its target. */
export function numbersByUrl(sources: readonly Source[]): (url: string) => number | undefined {
  const numbers = new Map<string, number>();
  for (const { n, url, resolved_url: resolved = url } of sources) {
    for (const spelling of new Set([url, resolved])) {
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

/** A URL in running text; a closing bracket is not part of it. */
const BARE_URL = /(?<![(\w])https?:\/\/[^\s()<>[\]"'`|]{1,2000}/g;
/** Link texts that are not a title: a number, a citation mark or a URL. */
const NOT_A_TITLE = /^(?:\d+|cite:.*|https?:\/\/.*)?$/;
const MAX_LINKED_SOURCES = 1_000;

/** The sources of a report without annotations, which may still link dozens of pages. */
export function linkedSources(report: string): { url: string; title: string }[] {
  const found = new Map<string, string>();
  const add = (url: string, title: string): void => {
    const isWeb = /^https?:\/\//.test(url) && URL.canParse(url);
    if (isWeb && !found.get(url) && found.size < MAX_LINKED_SOURCES)
      found.set(url, NOT_A_TITLE.test(title) ? "" : title);
  };
  for (const { tokens } of parseParts(numberedDocument(report, [])).parts) {
    for (const { children } of tokens) {
      let link: { url: string; title: string } | undefined;
      for (const token of children ?? []) {
        if (token.type === "link_open") link = { url: String(token.attrGet("href")), title: "" };
        else if (token.type === "link_close" && link !== undefined) {
          add(link.url, link.title);
          link = undefined;
        } else if (link !== undefined) link.title += token.content;
        else if (token.type === "text")
          for (const [url] of token.content.matchAll(BARE_URL)) add(url.replace(/[.,;:!?*_]+$/, ""), "");
      }
    }
  }
  return [...found].map(([url, title]) => ({ url, title }));
}
