/** Walks the blocks of a document that can hold claims, each with its headings, list labels or table heads. */

import type { Token } from "markdown-it";
import { isSourceListTitle } from "../../reports/citations.ts";
import { type Document, parseParts } from "../../reports/document/document.ts";
import { type Range, rangeOf } from "../../reports/document/ranges.ts";
import { onOneLine } from "../../reports/report-facts.ts";
import { type InlineText, type LinkContext, readInline } from "./inline.ts";

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
  if (!isListItem) walk.introduction = /[:：]\s*$/u.test(content) ? labelOf(inline.text) : "";
  else if (walk.items.at(-1) === "") walk.items[walk.items.length - 1] = labelOf(inline.text.split("\n", 1)[0] ?? "");
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
