/** Renders the blocks of a Markdown document as lines for a terminal. */

import type { Token } from "markdown-it";
import { formulaOf } from "../../../reports/document/formulas.ts";
import type { Style } from "../paint.ts";
import { widthOf } from "../text-width.ts";
import { boxTable, type Cell } from "./box-table.ts";
import { inlineWords, type InlineContext } from "./inline.ts";
import { paintLine, type Space, wrapWords } from "../words.ts";

/** Longer lines of prose are hard to read; tables and code may be wider. */
const MAX_PROSE_COLUMNS = 100;

export interface BlockSpace extends Space, InlineContext {}

interface Node {
  token: Token;
  children: Node[];
}

export function blockLines(tokens: readonly Token[], space: BlockSpace): string[] {
  return linesOf(treeOf(tokens), space);
}

function treeOf(tokens: readonly Token[]): Node[] {
  const roots: Node[] = [];
  const open: Node[] = [];
  for (const token of tokens) {
    if (token.nesting === -1) {
      open.pop();
      continue;
    }
    const node = { token, children: [] };
    (open.at(-1)?.children ?? roots).push(node);
    if (token.nesting === 1) open.push(node);
  }
  return roots;
}

/** With an empty line between two blocks, except in a tight list. */
function linesOf(nodes: readonly Node[], space: BlockSpace): string[] {
  return nodes
    .map((node) => ({ node, lines: renderBlock(node, space) }))
    .filter(({ lines }) => lines.length > 0)
    .flatMap(({ node, lines }, index) => (index === 0 || isTight(node) ? lines : ["", ...lines]));
}

/** markdown-it hides the paragraphs of a tight list; a list inside of one is tight, too. */
const isTight = ({ token, children }: Node): boolean =>
  token.hidden ||
  (token.type === "list_item_open" && isTightItem(children)) ||
  (token.type.endsWith("_list_open") && token.level > 0 && children.every((item) => isTightItem(item.children)));

const isTightItem = (children: readonly Node[]): boolean =>
  !children.some(({ token }) => token.type === "paragraph_open" && !token.hidden);

const HEADINGS: Readonly<Record<string, readonly Style[]>> = { h1: ["strong", "underline"], h2: ["strong"] };
const OTHER_HEADING: readonly Style[] = ["strong", "faint"];

function renderBlock({ token, children }: Node, space: BlockSpace): string[] {
  switch (token.type) {
    case "heading_open":
      return proseLines(children, space, HEADINGS[token.tag] ?? OTHER_HEADING);
    case "paragraph_open":
      return proseLines(children, space);
    case "inline":
      return proseLines([{ token, children }], space);
    case "bullet_list_open":
    case "ordered_list_open":
      return linesOf(children, space);
    case "list_item_open":
      return itemLines(token, children, space);
    case "blockquote_open":
      return quoteLines(children, space);
    case "fence":
    case "code_block":
      return codeLines(token.content, space);
    case "formula_block":
      return codeLines(formulaOf(token)?.source ?? "", space);
    case "footnote_open":
      return prefixed(children, space, { first: `[^${String(token.meta?.["label"])}]: `, rest: "  " });
    case "hr":
      return [space.paint("faint", "─".repeat(Math.min(space.width, MAX_PROSE_COLUMNS)))];
    case "table_open":
      return boxTable(rowsOf(children, space), space);
    default:
      return linesOf(children, space);
  }
}

function proseLines(nodes: readonly Node[], space: BlockSpace, styles: readonly Style[] = []): string[] {
  const width = Math.min(space.width, MAX_PROSE_COLUMNS);
  return nodes
    .flatMap(({ token }) => inlineWords(token.children ?? [], space, styles))
    .filter((words) => words.length > 0)
    .flatMap((words) => wrapWords(words, { width }))
    .map((line) => paintLine(line, space));
}

/** Deeper lists would leave no room for their text. */
const MIN_TEXT_COLUMNS = 10;

function itemLines({ info, markup }: Token, children: readonly Node[], space: BlockSpace): string[] {
  const mark = /^[-*+]$/.test(markup) ? "• " : `${info}${markup} `;
  return prefixed(children, space, { first: mark, rest: " ".repeat(widthOf(mark)) });
}

function quoteLines(children: readonly Node[], space: BlockSpace): string[] {
  const bar = space.paint("faint", "│ ");
  return prefixed(children, space, { first: bar, rest: bar });
}

interface Prefixes {
  first: string;
  rest: string;
}

const PREFIX_COLUMNS = 2;

function prefixed(children: readonly Node[], space: BlockSpace, { first, rest }: Prefixes): string[] {
  const taken = Math.max(PREFIX_COLUMNS, rest.trim() === "" ? rest.length : PREFIX_COLUMNS);
  const width = Math.max(MIN_TEXT_COLUMNS, Math.min(space.width, MAX_PROSE_COLUMNS) - taken);
  const lines = linesOf(children, { ...space, width });
  return lines.map((line, index) => `${index === 0 ? first : rest}${line}`.trimEnd());
}

/** Not wrapped, so that it can be copied. */
const codeLines = (code: string, { paint }: BlockSpace): string[] =>
  code
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `  ${paint("accent", line)}`.trimEnd());

function rowsOf(parts: readonly Node[], space: BlockSpace): Cell[][] {
  return parts
    .flatMap(({ children }) => children)
    .map(({ children }) =>
      children.map(({ token, children: [content] }) => ({
        words: inlineWords(content?.token.children ?? [], space, token.type === "th_open" ? ["strong"] : []).flat(),
        align: alignOf(token),
      })),
    );
}

function alignOf(token: Token): Cell["align"] {
  const [, align] = /^text-align:(center|right)$/.exec(String(token.attrGet("style") ?? "")) ?? [];
  return align === "center" || align === "right" ? align : "left";
}
