/** Walks the blocks of a document that can hold claims, each with its headings, list labels or table heads. */

import type { Token } from "markdown-it";
import { isSourceListTitle } from "../../reports/citations.ts";
import { citationOf } from "../../reports/document/citation-tokens.ts";
import { type Document, parseParts } from "../../reports/document/document.ts";
import { formulaOf } from "../../reports/document/formulas.ts";
import { clipped, type Piece, piecesOf, type Range, rangeOf } from "../../reports/document/ranges.ts";
import { onOneLine } from "../../reports/report-facts.ts";

/** Of a heading or the label of a list. */
const MAX_LABEL_CHARACTERS = 200;

/** Not in the middle of a character. */
const cut = (text: string): string => text.slice(0, MAX_LABEL_CHARACTERS).replace(/[\uD800-\uDBFF]$/, "");

export const labelOf = (text: string): string => cut(onOneLine(text));

/** Text of one paragraph, list item or cell. */
export interface TextBlock {
  inline: InlineText;
  /** In the part of the document. */
  range: Range;
  /** Where that part begins in the document. */
  offset: number;
  headings: string[];
  /** What the block depends on: the sentences or labels above its list items. */
  lead: string[];
  isListItem: boolean;
  cell?: Cell | undefined;
}

interface Cell {
  /** Equal for the cells of one row. */
  row: number;
  column: number;
  head: string;
}

interface Walk {
  read: (token: Token) => InlineText;
  offset: number;
  headings: { level: number; text: string }[];
  /** The labels of the open list items. */
  items: string[];
  /** The last paragraph outside a list, which may introduce the next one. */
  introduction: string;
  /** Level of the heading above the report's own list of sources. */
  listLevel: number | undefined;
  isAfterListTitle: boolean;
  rows: number;
  table: { heads: string[]; column: number; isHead: boolean } | undefined;
  isNote: boolean;
}

export function* blocksOf(document: Document, links: Omit<LinkContext, "source">): Generator<TextBlock> {
  const walk: Walk = {
    read: (token) => readInline(token, { ...links, source: "" }),
    offset: 0,
    headings: [],
    items: [],
    introduction: "",
    listLevel: undefined,
    isAfterListTitle: false,
    rows: 0,
    table: undefined,
    isNote: false,
  };
  for (const { tokens, text, start, repeated } of parseParts(document).parts) {
    walk.read = (token) => readInline(token, { ...links, source: text });
    walk.offset = start - repeated.length;
    for (const [at, token] of tokens.entries()) {
      const block = token.type === "inline" ? readBlock(walk, token, tokens[at - 1]) : undefined;
      if (block !== undefined) yield block;
      ENTER[token.type]?.(walk, token);
    }
  }
}

const endList = (walk: Walk): void => {
  if (walk.items.length === 0) walk.introduction = "";
};

const ENTER: Readonly<Record<string, (walk: Walk, token: Token) => void>> = {
  list_item_open: ({ items }) => items.push(""),
  list_item_close: ({ items }) => items.pop(),
  bullet_list_close: endList,
  ordered_list_close: endList,
  thead_open: (walk) => {
    walk.table = { heads: [], column: 0, isHead: true };
  },
  tbody_open: ({ table }) => {
    if (table !== undefined) table.isHead = false;
  },
  tr_open: (walk) => {
    if (walk.table !== undefined) walk.table.column = 0;
    walk.rows += 1;
  },
  table_close: (walk) => {
    walk.table = undefined;
  },
  footnote_open: (walk) => {
    walk.isNote = true;
  },
  footnote_close: (walk) => {
    walk.isNote = false;
  },
};

function readBlock(walk: Walk, token: Token, before: Token | undefined): TextBlock | undefined {
  if (before?.type === "heading_open") return openHeading(walk, Number(before.tag.slice(1)), token);
  if (walk.table !== undefined) return readCell(walk, token, walk.table);
  const { content } = token;
  if (walk.items.length === 0) {
    if (isSourceListTitle(content)) {
      walk.isAfterListTitle = true;
      return undefined;
    }
    // Text without a link ends a list of sources that has no heading.
    if (walk.isAfterListTitle && !/\]\(|https?:\/\//.test(content)) walk.isAfterListTitle = false;
  }
  if (walk.listLevel !== undefined || walk.isAfterListTitle || walk.isNote) return undefined;
  const inline = walk.read(token);
  const isListItem = walk.items.length > 0;
  const lead = [walk.introduction, ...walk.items.slice(0, -1)].filter((text) => text !== "");
  const label = (text: string): string => labelOf(text).replace(/\s?[:：]$/u, "");
  if (!isListItem) walk.introduction = /[:：]\s*$/u.test(content) ? label(inline.text) : "";
  else if (walk.items.at(-1) === "") walk.items[walk.items.length - 1] = label(inline.text.split("\n", 1)[0] ?? "");
  return blockOf(walk, token, { inline, lead: isListItem ? lead : [], isListItem });
}

const blockOf = (
  { offset, headings }: Walk,
  token: Token,
  block: Pick<TextBlock, "inline" | "lead" | "isListItem" | "cell">,
): TextBlock => ({ ...block, range: rangeOf(token), offset, headings: headings.map(({ text }) => text) });

function openHeading(walk: Walk, level: number, token: Token): undefined {
  while ((walk.headings.at(-1)?.level ?? 0) >= level) walk.headings.pop();
  walk.headings.push({ level, text: labelOf(walk.read(token).text) });
  walk.introduction = "";
  walk.isAfterListTitle = false;
  if (walk.listLevel !== undefined && level <= walk.listLevel) walk.listLevel = undefined;
  if (walk.listLevel === undefined && isSourceListTitle(token.content)) walk.listLevel = level;
  return undefined;
}

function readCell(walk: Walk, token: Token, table: NonNullable<Walk["table"]>): TextBlock | undefined {
  const { column, heads } = table;
  table.column += 1;
  const inline = walk.read(token);
  if (table.isHead) heads.push(labelOf(inline.text));
  if (table.isHead || walk.listLevel !== undefined || walk.isAfterListTitle) return undefined;
  return blockOf(walk, token, {
    inline,
    lead: [],
    isListItem: false,
    cell: { row: walk.rows, column, head: heads[column] ?? "" },
  });
}

// Reads the inline tokens of a block as plain text, with its citation marks and links as positions in that text.

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
  /** Where its characters are in the source. */
  pieces: Piece[];
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
}

function readInline(inline: Token, context: LinkContext): InlineText {
  const empty = { text: "", pieces: [], marks: [], bold: 0, open: undefined };
  const { end } = rangeOf(inline);
  const reading: Reading = { ...empty, context, end, isBoldOpen: false };
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

function write(reading: Reading, text: string, range: Range): void {
  reading.pieces.push({ at: reading.text.length, size: text.length, ...range });
  reading.text += text;
}

/** Characters of the token's own content. */
function keep(reading: Reading, token: Token, { from, to }: { from: number; to: number }): void {
  const before = reading.text.length;
  for (const piece of clipped(piecesOf(token), from, to)) reading.pieces.push({ ...piece, at: before + piece.at });
  reading.text += token.content.slice(from, to);
}

function cite(reading: Reading, mark: Omit<CitationMark, "at">): void {
  reading.marks.push({ at: reading.text.length, ...mark });
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
  // A sentence that begins or ends with the label has the whole link.
  write(reading, label, { start, end });
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
function withoutEmptyAsides({ text, pieces, marks, bold }: InlineText): InlineText {
  const kept: InlineText = { text: "", pieces: [], marks: [], bold };
  let [from, next] = [0, 0];
  for (const { index, 0: hole } of [
    ...(marks.length === 0 ? [] : text.matchAll(EMPTY_ASIDE)),
    { index: text.length, 0: "" },
  ]) {
    const removed = from - kept.text.length;
    for (const piece of clipped(pieces, from, index)) kept.pieces.push({ ...piece, at: piece.at + kept.text.length });
    for (let mark = marks[next]; mark !== undefined && mark.at <= index + hole.length; mark = marks[(next += 1)]) {
      const labelFrom = mark.labelFrom === undefined ? undefined : mark.labelFrom - removed;
      kept.marks.push({ ...mark, labelFrom, at: Math.min(mark.at, index) - removed });
    }
    kept.text += text.slice(from, index);
    from = index + hole.length;
  }
  return kept;
}
