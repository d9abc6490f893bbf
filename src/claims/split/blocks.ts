/** Reads the blocks of a report that can hold claims, each with its headings, list labels or table heads. */

import markdownIt, { type Token } from "markdown-it";
import { isSourceListTitle } from "../../reports/citations/own-source-list.ts";
import { boundedText } from "../../reports/markdown/bounded-text.ts";

/** Of a heading or the label of a list. */
export const MAX_LABEL_CHARACTERS = 200;

/** Not in the middle of a character. */
export const cut = (text: string, characters: number): string =>
  text.slice(0, characters).replace(/[\uD800-\uDBFF]$/, "");

/** Text of one paragraph, list item or cell. */
export interface TextBlock {
  /** Its Markdown. */
  content: string;
  /** Offsets of its lines: in the content and in the report. */
  lines: { at: number; start: number }[];
  headings: string[];
  /** What the block depends on: the sentences or labels above its list items. */
  lead: string[];
  isListItem: boolean;
  /** Receives the block's own label, on which nested items depend. */
  setLabel: (label: string) => void;
  cell?: Cell | undefined;
}

interface Cell {
  /** Equal for the cells of one row. */
  row: number;
  column: number;
  /** Markdown of the column's head. */
  head: string;
}

const parser = markdownIt({ html: false });
parser.core.ruler.enableOnly(["normalize", "block"]);

interface Item {
  label: string;
}

interface Walk {
  /** Offsets of the lines in the report. */
  starts: number[];
  lines: string[];
  blocks: TextBlock[];
  headings: { level: number; text: string }[];
  items: Item[];
  /** The last paragraph outside a list, which may introduce the next one. */
  introduction: string;
  /** Level of the heading above the report's own list of sources. */
  listLevel: number | undefined;
  isAfterListTitle: boolean;
  rows: number;
  table: { heads: string[]; column: number; isHead: boolean; from: number; line: number } | undefined;
}

export interface ReportBlocks {
  blocks: TextBlock[];
  /** URLs of definitions such as `[1]: url`, by label. */
  definitions: ReadonlyMap<string, string>;
}

/** Texts that are longer are read up to here. */
const MAX_CHARACTERS = 4_000_000;

export function blocksOf(report: string): ReportBlocks {
  const blocks: TextBlock[] = [];
  const definitions = new Map<string, string>();
  const headings: Walk["headings"] = [];
  let listLevel: number | undefined;
  let rows = 0;
  for (let from = 0; from < Math.min(report.length, MAX_CHARACTERS);) {
    const { text } = boundedText(report.slice(from, MAX_CHARACTERS));
    const env: { references?: Record<string, { href: string; title: string }> } = {};
    const tokens = parser.parse(text, env);
    const walk = { ...linesOf(text, from), blocks, headings, items: [], introduction: "", listLevel, rows };
    const walked: Walk = { ...walk, isAfterListTitle: false, table: undefined };
    walkTokens(walked, tokens);
    ({ listLevel, rows } = walked);
    for (const [label, { href }] of Object.entries(env.references ?? {})) {
      if (!definitions.has(label)) definitions.set(label, href);
    }
    from += text.length;
  }
  return { blocks, definitions };
}

function linesOf(text: string, offset: number): Pick<Walk, "lines" | "starts"> {
  const lines: string[] = [];
  const starts: number[] = [];
  let start = 0;
  for (const { index, 0: lineEnd } of text.matchAll(/\r\n|\n|\r/g)) {
    lines.push(text.slice(start, index));
    starts.push(offset + start);
    start = index + lineEnd.length;
  }
  lines.push(text.slice(start));
  starts.push(offset + start);
  return { lines, starts };
}

function walkTokens(walk: Walk, tokens: readonly Token[]): void {
  for (const [at, token] of tokens.entries()) {
    switch (token.type) {
      case "heading_open":
        openHeading(walk, Number(token.tag.slice(1)), tokens[at + 1]?.content ?? "");
        break;
      case "list_item_open":
        walk.items.push({ label: "" });
        break;
      case "list_item_close":
        walk.items.pop();
        break;
      case "bullet_list_close":
      case "ordered_list_close":
        if (walk.items.length === 0) walk.introduction = "";
        break;
      case "thead_open":
        walk.table = { heads: [], column: 0, isHead: true, from: 0, line: 0 };
        break;
      case "tbody_open":
        if (walk.table !== undefined) walk.table.isHead = false;
        break;
      case "table_close":
        walk.table = undefined;
        break;
      case "tr_open":
        openRow(walk, token);
        break;
      case "inline":
        if (tokens[at - 1]?.type !== "heading_open") readInlineToken(walk, token);
        break;
    }
  }
}

function openHeading(walk: Walk, level: number, text: string): void {
  while ((walk.headings.at(-1)?.level ?? 0) >= level) walk.headings.pop();
  walk.headings.push({ level, text });
  walk.introduction = "";
  walk.isAfterListTitle = false;
  if (walk.listLevel !== undefined && level <= walk.listLevel) walk.listLevel = undefined;
  if (walk.listLevel === undefined && isSourceListTitle(text)) walk.listLevel = level;
}

function openRow(walk: Walk, { map }: Token): void {
  if (walk.table === undefined) return;
  Object.assign(walk.table, { column: 0, from: 0, line: map?.[0] ?? 0 });
  walk.rows += 1;
}

function readInlineToken(walk: Walk, token: Token): void {
  if (walk.table !== undefined) return readCell(walk, token, walk.table);
  const { content, map } = token;
  if (walk.items.length === 0) {
    if (isSourceListTitle(content)) {
      walk.isAfterListTitle = true;
      return;
    }
    // Text without a link ends a list of sources that has no heading.
    if (walk.isAfterListTitle && !/\]\(|https?:\/\//.test(content)) walk.isAfterListTitle = false;
  }
  if (walk.listLevel !== undefined || walk.isAfterListTitle || map === null) return;
  const item = walk.items.at(-1);
  const lead = [walk.introduction, ...walk.items.slice(0, -1).map(({ label }) => label)].filter((text) => text !== "");
  walk.blocks.push({
    content,
    lines: lineOffsets(walk, content, map[0]),
    headings: walk.headings.map(({ text }) => text),
    lead: item === undefined ? [] : lead,
    isListItem: item !== undefined,
    setLabel: (label) => {
      if (item !== undefined && item.label === "") item.label = label;
    },
  });
  if (item === undefined) walk.introduction = /[:：]\s*$/u.test(content) ? content : "";
  else if (item.label === "") item.label = cut(content.split("\n", 1)[0] ?? "", MAX_LABEL_CHARACTERS);
}

/** Each line of the content is the end of its line in the report, after the marks of lists and quotes. */
function lineOffsets(walk: Walk, content: string, first: number): TextBlock["lines"] {
  let at = 0;
  return content.split("\n").map((text, index) => {
    const line = walk.lines[first + index] ?? "";
    const column = line.lastIndexOf(text);
    const offset = { at, start: (walk.starts[first + index] ?? 0) + Math.max(column, 0) };
    at += text.length + 1;
    return offset;
  });
}

/** How far after the previous cell a cell is searched for: padding and escaped bars. */
const MAX_CELL_GAP = 1_000;

function readCell(walk: Walk, { content }: Token, table: NonNullable<Walk["table"]>): void {
  const column = table.column;
  table.column += 1;
  if (table.isHead) {
    table.heads.push(content);
    return;
  }
  const line = walk.lines[table.line] ?? "";
  const found = line.slice(table.from, table.from + content.length + MAX_CELL_GAP).indexOf(content);
  const start = table.from + Math.max(found, 0);
  table.from = start + content.length;
  if (walk.listLevel !== undefined || walk.isAfterListTitle) return;
  walk.blocks.push({
    content,
    lines: [{ at: 0, start: (walk.starts[table.line] ?? 0) + start }],
    headings: walk.headings.map(({ text }) => text),
    lead: [],
    isListItem: false,
    setLabel: () => {},
    cell: { row: walk.rows, column, head: table.heads[column] ?? "" },
  });
}
