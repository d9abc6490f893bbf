/** Numbered Markdown: edits of a report's text in which its citations become numbers; everything else stays as it is. */

import type { Token } from "markdown-it";
import {
  dropAmbiguousNumbers,
  listedSources,
  removeSourceList,
  resolveCitationNumbers,
  withoutStartMarks,
  wouldDefine,
} from "../citations.ts";
import type { VisitedSource } from "../../gemini/search-backend.ts";
import { isRedirect, numberSources, type Source } from "../report.ts";
import { type Citation, citationOf } from "./citation-tokens.ts";
import {
  type Document,
  type DocumentPart,
  NONE_PLACED,
  numberedDocument,
  numbersByUrl,
  type ParsedParts,
  parseParts,
} from "./document.ts";
import { type Range, rangeOf } from "./ranges.ts";

interface Edit extends Range {
  text: string;
}

/** Every mark with a source as its numbers; a citation without a mark follows the text that it belongs to. */
export const numberedMarkdown = (document: Document): string =>
  edited(document, ({ tokens }) =>
    tokens.flatMap(({ children }) => {
      let last = 0;
      return (children ?? []).flatMap((token) => {
        const { numbers = [], sources = [] } = citationOf(token) ?? {};
        const { start, end } = rangeOf(token);
        const isWritten = end > start;
        last = isWritten ? end : last;
        // What follows code only has no place in the text.
        if (token.type !== "citation" || last === 0) return [];
        const text = sources.map((n, index) => `[${n ?? numbers[index]}]`).join("");
        return [isWritten ? { start, end, text } : { start: last, end: last, text: ` ${text}` }];
      });
    }),
  );

/**
 * A page that a report cites by several numbers keeps the lowest one. Marks keep their length, so that ranges of the
 * report stay valid.
 */
export function withOneNumberPerPage(report: string, aliases: ReadonlyMap<number, number>): string {
  if (aliases.size === 0) return report;
  const sources = [...aliases].map(([n]) => ({ n, title: "", url: "", domain: "" }));
  return edited(numberedDocument(report, sources), ({ tokens, text }) =>
    tokens.flatMap(({ children }) =>
      (children ?? []).flatMap((token) => {
        const { isGoogle = false, isDefined = true } = citationOf(token) ?? {};
        const range = rangeOf(token);
        const renumbered = text
          .slice(range.start, range.end)
          .replaceAll(/\d+/g, (n) => String(aliases.get(Number(n)) ?? n).padStart(n.length, isGoogle ? " " : "0"));
        return isDefined ? [] : [{ ...range, text: renumbered }];
      }),
    ),
  );
}

/** The numbers of all sources that the text cites. */
export function citedNumbers(document: Document): Set<number> {
  const cited = new Set(document.placed.positions.map(({ n }) => n));
  for (const { tokens } of parseParts(document).parts) {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const { numbers = [], sources = [] } = citationOf(token) ?? {};
      for (const [index, n] of numbers.entries()) cited.add(sources[index] ?? n);
    }
  }
  return cited;
}

function edited(document: Document, editsIn: (part: DocumentPart) => Edit[], parsed?: ParsedParts): string {
  const { text } = document;
  // Without brackets and addresses nothing is cited, and nothing has to be parsed.
  if (!text.includes("[") && !text.includes("://") && document.placed.positions.length === 0) return text;
  let written = "";
  let copied = 0;
  for (const part of (parsed ?? parseParts(document)).parts) {
    const offset = part.start - part.repeated.length;
    for (const { start, end, text: replacement } of editsIn(part)) {
      // The repeated header of a table was edited in its own part.
      if (start + offset < copied) continue;
      written += text.slice(copied, start + offset) + replacement;
      copied = end + offset;
    }
  }
  return written + text.slice(copied);
}

export interface NumberedReport {
  report: string;
  sources: Source[];
}

/**
 * Replaces links to the report's sources and its own numbers by source numbers, because the source list has the URLs:
 * in the result a number in brackets outside code is a source number, whatever numbering the report used. A link label
 * becomes the title of a source that has none.
 */
export function citeByNumber(original: string, sources: readonly Source[]): NumberedReport {
  const report = withoutStartMarks(original);
  const document = {
    text: removeSourceList(report, sources),
    sources,
    meant: resolveCitationNumbers({ report, sources }),
    placed: NONE_PLACED,
  };
  const numberOf = numbersByUrl(sources);
  const parsed = parseParts(document, numberOf);
  // The numbers of a rest that is not parsed cannot be replaced and would look like source numbers.
  if (parsed.rest !== "") return { report, sources: [...sources] };
  const citing: Citing = {
    text: "",
    byNumber: new Map(sources.map((source) => [source.n, source])),
    listed: new Map(dropAmbiguousNumbers(listedSources(report)).map(({ n, url }) => [n, url])),
    numberOf,
    titles: new Map(),
  };
  const text = edited(document, (part) => citationEdits(part, { ...citing, text: part.text }), parsed);
  const titled = sources.map((source) => ({ ...source, title: citing.titles.get(source.n) ?? source.title }));
  return { report: text, sources: titled };
}

/**
 * A report whose sources are numbered by their first use in the text. Pages that it does not cite follow: those with an
 * address of their own, then redirect links, which hide theirs.
 */
export function citeByUse(original: string, visited: VisitedSource[]): NumberedReport {
  const { report, sources } = citeByNumber(original, numberSources(visited));
  const used = [...citedNumbers(numberedDocument(report, sources))];
  const rank = ({ n, url }: Source): number => {
    const place = used.indexOf(n);
    return place >= 0 ? place : used.length + (isRedirect(url) ? 1 : 0);
  };
  const byUse = sources.toSorted((a, b) => rank(a) - rank(b)).map((source, index) => ({ ...source, n: index + 1 }));
  return citeByNumber(original, byUse);
}

interface Citing {
  /** Of the part. */
  text: string;
  byNumber: ReadonlyMap<number, Source>;
  /** URLs by number in the report's own list. */
  listed: ReadonlyMap<number, string>;
  numberOf: (url: string) => number | undefined;
  /** Receives the labels of links to sources without a title. */
  titles: Map<number, string>;
}

function citationEdits({ tokens, definitions, text }: DocumentPart, citing: Citing): Edit[] {
  const starts = [0];
  for (const line of text.split("\n")) starts.push((starts.at(-1) ?? 0) + line.length + 1);
  const defined = definitions.filter(({ meta }) => isNumber(meta?.["label"]));
  const edits = tokens.flatMap(({ children }) => inlineEdits(children ?? [], citing));
  return [...edits, ...defined.map((token) => definitionEdit(token, starts))].toSorted((a, b) => a.start - b.start);
}

const isNumber = (label: unknown): boolean => /^\d{1,4}$/.test(String(label));

/** Links with its number have the URL, and it would redefine one of ours. */
const definitionEdit = ({ map }: Token, starts: readonly number[]): Edit => ({
  start: starts[map?.[0] ?? 0] ?? 0,
  end: (starts[map?.[1] ?? 0] ?? 1) - 1,
  text: "",
});

function inlineEdits(tokens: readonly Token[], citing: Citing): Edit[] {
  const edits: Edit[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    const citation = citationOf(token);
    if (token === undefined) break;
    if (citation !== undefined) edits.push(...markEdit(token, citation, citing));
    if (token.type !== "link_open") continue;
    const from = at;
    while (at < tokens.length && tokens[at]?.type !== "link_close") at += 1;
    const link = linkOf(tokens.slice(from, at + 1), citing.text);
    if (link !== undefined) edits.push(...linkEdit(link, citing));
  }
  return edits;
}

const linked = (label: string, url: string): string => `[${label}](${url.replaceAll(/[()]/g, encodeURIComponent)})`;

/** A number that nothing explains is escaped if a source has the same number. */
function markEdit(token: Token, { numbers, sources, isGoogle }: Citation, citing: Citing): Edit[] {
  const { text, byNumber, listed } = citing;
  const range = rangeOf(token);
  const isDefinition = wouldDefine(text, range);
  const written = numbers.map((n, index) => {
    const source = byNumber.get(sources[index] ?? Number.NaN);
    const url = listed.get(n);
    if (source !== undefined) return isDefinition ? linked(String(n), source.url) : `[${source.n}]`;
    return url === undefined ? undefined : linked(String(n), url);
  });
  if (written.every((one) => one === undefined)) {
    if (isGoogle || !numbers.some((n) => byNumber.has(n))) return [];
    return [{ ...range, text: String.raw`\[${token.content.slice(1, -1)}\]` }];
  }
  return [{ ...range, text: written.map((one, index) => one ?? String.raw`\[${numbers[index]}\]`).join(" ") }];
}

interface Link extends Range {
  /** As written. */
  label: string;
  /** The label as a reader sees it. */
  title: string;
  href: string;
  isAutolink: boolean;
  /** The report defines its URL by a number. */
  isReference: boolean;
}

function linkOf([open, ...tokens]: readonly Token[], text: string): Link | undefined {
  const inner = tokens.slice(0, -1);
  const [first, last] = [inner[0], inner.at(-1)];
  if (open === undefined) return undefined;
  return {
    ...rangeOf(open),
    label: first && last ? text.slice(rangeOf(first).start, rangeOf(last).end) : "",
    title: inner
      .map(({ content }) => content)
      .join("")
      .trim(),
    href: String(open.attrGet("href")),
    isAutolink: open.markup === "autolink",
    isReference: isNumber(open.meta?.["label"]),
  };
}

/** In running text the label is part of the sentence; in parentheses, or as a number or an address, it is not. */
function linkEdit(link: Link, { text, numberOf, byNumber, titles }: Citing): Edit[] {
  const { start, end, label, title, href } = link;
  const [before, after] = [text[start - 1] ?? "", text[end] ?? ""];
  // `array[1]` is no citation, even if the report defines the number.
  if (link.isReference && label === text.slice(start + 1, end - 1) && /\w/.test(before)) return [];
  const n = numberOf(href);
  // A number before or after a bracket would be parsed as a part of a link.
  if (n === undefined || /[\]\\]/.test(before) || /[([]/.test(after) || wouldDefine(text, link)) {
    return link.isReference ? [{ start, end, text: linked(label, href) }] : [];
  }
  const source = byNumber.get(n);
  if (source !== undefined && isUntitled(source) && isTitle(title)) titles.set(n, title);
  const isAside = before === "(" && after === ")" && !/[\]\\]/.test(text[start - 2] ?? "");
  if (isAside) return [{ start: start - 1, end: end + 1, text: `[${n}]` }];
  return [{ start, end, text: !link.isAutolink && isTitle(title) ? `${label} [${n}]` : `[${n}]` }];
}

const isUntitled = ({ title, domain }: Source): boolean => title === "" || title === domain;

/** False for a URL, a domain and a number. */
const isTitle = (label: string): boolean =>
  /\p{L}{2}/u.test(label) && !/^(?:https?:\/\/|[\w-]+(?:\.[\w-]+)+\/?\S*$)/.test(label);
