/** Reads the inline tokens of a block as plain text, with its citation marks and links as positions in that text. */

import type { Token } from "markdown-it";
import { citationOf } from "../../reports/document/citation-tokens.ts";
import { formulaOf } from "../../reports/document/formulas.ts";
import { piecesOf, type Range, rangeOf } from "../../reports/document/ranges.ts";

/** What leads from links to sources. */
export interface LinkContext {
  /** The text that the ranges of the tokens count in. */
  source: string;
  numberOf: (url: string) => number | undefined;
  /** The sources that a footnote links to. */
  footnote: (label: string) => number[];
}

interface CitationMark {
  /** Characters of the plain text before the mark. */
  at: number;
  sources: number[];
  /** Where the cited text begins, if `[cite_start]` says so. */
  from?: number | undefined;
  /** The mark is the label of a link, which is part of the text before `at`. */
  labelFrom?: number | undefined;
}

export interface InlineText {
  text: string;
  /** For each character of the text where it begins and ends in the source. */
  starts: number[];
  ends: number[];
  marks: CitationMark[];
  /** The length of the bold text with which it begins. */
  bold: number;
}

interface Reading extends InlineText {
  context: LinkContext;
  /** The end of the block in the source. */
  end: number;
  /** Position of a `[cite_start]` that no `[cite: 1]` has used yet. */
  open: number | undefined;
  isBoldOpen: boolean;
  isAfterMark: boolean;
}

export function readInline(inline: Token, context: LinkContext): InlineText {
  const empty = { text: "", starts: [], ends: [], marks: [], bold: 0, open: undefined };
  const { end } = rangeOf(inline);
  const reading: Reading = { ...empty, context, end, isBoldOpen: false, isAfterMark: false };
  const tokens = inline.children ?? [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    if (token.type === "link_open") {
      const from = at + 1;
      while (at < tokens.length && tokens[at]?.type !== "link_close") at += 1;
      readLink(reading, token, tokens.slice(from, at));
    } else READERS[token.type]?.(reading, token);
  }
  dropSpace(reading, ".");
  return withoutEmptyAsides(reading);
}

const READERS: Readonly<Record<string, (reading: Reading, token: Token) => void>> = {
  text: readText,
  code_inline: (reading, token) => keep(reading, token, { from: 0, to: token.content.length }),
  softbreak: (reading, token) => write(reading, "\n", rangeOf(token)),
  hardbreak: (reading, token) => write(reading, "\n", rangeOf(token)),
  formula: (reading, token) => write(reading, formulaOf(token)?.source ?? "", rangeOf(token)),
  strong_open: (reading) => {
    reading.isBoldOpen = reading.text === "";
  },
  strong_close: (reading) => {
    if (reading.isBoldOpen) reading.bold = reading.text.length;
    reading.isBoldOpen = false;
  },
  footnote: (reading, { meta }) => cite(reading, { sources: reading.context.footnote(String(meta?.["label"])) }),
  cite_start: (reading) => {
    reading.open = reading.text.length;
  },
  citation: readMark,
  mark: readMark,
};

function write(reading: Reading, text: string, { start, end }: Range): void {
  if (text === "") return;
  dropSpace(reading, text);
  for (let unit = 0; unit < text.length; unit += 1) {
    reading.starts.push(start);
    reading.ends.push(end);
  }
  reading.text += text;
}

/** Characters of the token's own content. */
function keep(reading: Reading, token: Token, { from, to }: { from: number; to: number }): void {
  if (to <= from) return;
  const text = token.content.slice(from, to);
  dropSpace(reading, text);
  for (const { at, size, start, end } of piecesOf(token)) {
    const isVerbatim = size === end - start;
    for (let index = Math.max(at, from); index < Math.min(at + size, to); index += 1) {
      reading.starts.push(isVerbatim ? start + index - at : start);
      reading.ends.push(isVerbatim ? start + index - at + 1 : end);
    }
  }
  reading.text += text;
}

/** `cost more [1].` has no space before the full stop once the mark is taken out. */
function dropSpace(reading: Reading, next: string): void {
  const { isAfterMark, text } = reading;
  reading.isAfterMark = false;
  if (!isAfterMark || !text.endsWith(" ") || !/^[.,;:!?)]/.test(next)) return;
  reading.text = text.slice(0, -1);
  reading.starts.pop();
  reading.ends.pop();
  for (const mark of reading.marks) mark.at = Math.min(mark.at, reading.text.length);
}

function cite(reading: Reading, mark: Omit<CitationMark, "at">): void {
  reading.marks.push({ at: reading.text.length, ...mark });
  reading.isAfterMark = true;
}

const URL_PATTERN = String.raw`https?:\/\/[^\s()<>[\]]{1,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>[\]]{0,200})?`;
/** Addresses cite, and tags are no text; the parser reads neither. */
const ADDRESS_OR_TAG = new RegExp(String.raw`(${URL_PATTERN})|<\/?[a-z][a-z0-9]{0,15}(?:\s[^<>\n]{0,200})?\/?>`, "gi");

function readText(reading: Reading, token: Token): void {
  const { content } = token;
  let copied = 0;
  if (/[<:]/.test(content)) {
    for (const { index, 0: found, 1: url } of content.matchAll(ADDRESS_OR_TAG)) {
      keep(reading, token, { from: copied, to: index });
      copied = index + found.length;
      if (url !== undefined) citeUrl(reading, url);
    }
  }
  keep(reading, token, { from: copied, to: content.length });
}

function citeUrl(reading: Reading, url: string): void {
  const { numberOf } = reading.context;
  const n = numberOf(url.replace(/[.,;:!?'"]{1,5}$/u, "")) ?? numberOf(url);
  cite(reading, { sources: n === undefined ? [] : [n] });
}

/** A year in brackets that no source explains stays text. */
function readMark(reading: Reading, token: Token): void {
  const { numbers = [], sources = [], isGoogle = false } = citationOf(token) ?? {};
  const known = sources.filter((source) => source !== undefined);
  if (known.length === 0 && !isGoogle && numbers.some((n) => n > 999)) {
    write(reading, token.content, rangeOf(token));
    return;
  }
  cite(reading, { sources: known, from: isGoogle ? reading.open : undefined });
  if (isGoogle) reading.open = undefined;
}

/** Keeps a label that reads as part of the sentence; a number, a domain or an aside is only a mark. */
function readLink(reading: Reading, opening: Token, tokens: readonly Token[]): void {
  const { source, numberOf } = reading.context;
  const { start, end } = rangeOf(opening);
  const label = tokens.map(({ content }) => content).join("");
  const [before, after] = [reading.text.slice(-4), source.slice(end, Math.min(end + 4, reading.end))];
  const isAside =
    (/[(（][^()（）]{0,2}$/u.test(before) && /^[)）,;]/u.test(after)) ||
    // Between two sentences, or after the last one.
    (/[.!?。！？]["”’)]?\s?$/u.test(before) && /^\s*(?:$|[\p{Lu}\n[(])/u.test(after));
  const n = numberOf(String(opening.attrGet("href")));
  const sources = n === undefined ? [] : [n];
  if (isAside || !isProse(label)) return cite(reading, { sources });
  const from = reading.text.length;
  for (const token of tokens) READERS[token.type]?.(reading, token);
  // A sentence that begins or ends with the label has the whole link.
  if (reading.starts.length > from) {
    reading.starts[from] = start;
    reading.ends[reading.ends.length - 1] = end;
  }
  cite(reading, { sources, labelFrom: from });
}

/** False for a URL, a domain, a number and the word "source". */
const isProse = (label: string): boolean =>
  /\p{L}{2}/u.test(label) &&
  !/^(?:https?:\/\/|[\w-]+(?:\.[\w-]+)+\/?\S*$)/u.test(label) &&
  !/^\W*(?:sources?|link|quellen?|lien)\W*\d*\W*$/iu.test(label) &&
  !/^[^\p{L}]*(?:出典|リンク|参照)[^\p{L}]*$/u.test(label);

const EMPTY_ASIDE =
  /\s?[(（［][\s,;、]{0,8}(?:(?:see|cf|sources?|quellen?|siehe|vgl|voir|出典|参照)[.:：]?)?[\s,;、]{0,8}[)）］]/giu;

/** Removes the parentheses that are left when the marks inside are taken out. */
function withoutEmptyAsides({ text, starts, ends, marks, bold }: InlineText): InlineText {
  const found = marks.length === 0 ? [] : [...text.matchAll(EMPTY_ASIDE)];
  if (found.length === 0) return { text, starts, ends, marks, bold };
  const holes = found.map(({ index, 0: { length } }) => ({ from: index, to: index + length }));
  const kept: InlineText = { text: "", starts: [], ends: [], marks: [], bold };
  let copied = 0;
  for (const { from, to } of [...holes, { from: text.length, to: text.length }]) {
    kept.text += text.slice(copied, from);
    for (let index = copied; index < from; index += 1) {
      kept.starts.push(starts[index] ?? 0);
      kept.ends.push(ends[index] ?? 0);
    }
    copied = to;
  }
  let hole = 0;
  let removed = 0;
  for (const mark of marks) {
    for (; (holes[hole]?.to ?? Infinity) <= mark.at; hole += 1)
      removed += (holes[hole]?.to ?? 0) - (holes[hole]?.from ?? 0);
    const inside = Math.max(0, mark.at - (holes[hole]?.from ?? Infinity));
    kept.marks.push({ ...mark, at: mark.at - removed - inside });
  }
  return kept;
}
