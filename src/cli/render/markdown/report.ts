/** Renders a report as lines for a terminal, with its citations as the numbers of the list of sources. */

import type { Token } from "markdown-it";
import { citationOf } from "../../../reports/document/citation-tokens.ts";
import { type Document, parseParts } from "../../../reports/document/document.ts";
import { formulaOf } from "../../../reports/document/formulas.ts";
import type { Source } from "../../../reports/report.ts";
import { webUrl } from "../../../reports/web-address.ts";
import type { Style } from "../paint.ts";
import { widthOf } from "../text-width.ts";
import { createWords, paintLine, type Space, type Word, wrapWords } from "../words.ts";
import { boxTable, type Cell } from "./box-table.ts";

export function reportLines(document: Document, space: Space): string[] {
  const urls = new Map(document.sources.map((source) => [source.n, sourceUrl(source)]));
  const context = { ...space, sourceUrl: (n: number) => urls.get(n), writesUrls: space.link === undefined };
  const { parts, rest } = parseParts(document);
  const lines: string[] = [];
  for (const { tokens, isFirst } of parts) {
    const shown = blockLines(tokens, context);
    lines.push(...(isFirst || shown.length === 0 ? [] : [""]), ...shown);
  }
  return rest === "" ? lines : [...lines, "", ...rest.split("\n")];
}

/** The page itself where it is known, else Google's link to it; http and https only. */
export const sourceUrl = ({ url, resolved_url: resolved }: Source): string | undefined =>
  webUrl((resolved ?? url).trim()) ?? webUrl(url.trim());

/** Longer lines of prose are hard to read; tables and code may be wider. */
const MAX_PROSE_COLUMNS = 100;

interface BlockSpace extends Space, InlineContext {}

interface Node {
  token: Token;
  children: Node[];
}

function blockLines(tokens: readonly Token[], space: BlockSpace): string[] {
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

interface InlineContext {
  sourceUrl: (n: number) => string | undefined;
  /** URLs follow the text of their links, because links cannot be clicked. */
  writesUrls: boolean;
}

const STYLES: Readonly<Record<string, Style>> = { em_open: "emphasis", strong_open: "strong", s_open: "struck" };
const CLOSING: Readonly<Record<string, Style>> = { em_close: "emphasis", strong_close: "strong", s_close: "struck" };

/** One list of words for each line that the text itself breaks. */
function inlineWords(tokens: readonly Token[], context: InlineContext, base: readonly Style[] = []): Word[][] {
  const lines = [createWords()];
  const current = () => lines.at(-1) ?? createWords();
  const styles = [...base];
  let link: { url: string | undefined; text: string } | undefined;
  const write = (text: string, more: readonly Style[] = []): void => {
    if (link !== undefined) link.text += text;
    const { url } = link ?? {};
    current().add({ text, styles: [...styles, ...more, ...(url === undefined ? [] : LINK)], url });
  };
  const cite = (token: Token): void => {
    const { numbers = [], sources = [] } = citationOf(token) ?? {};
    for (const [index, n] of sources.entries()) {
      if (n === undefined) write(`[${numbers[index]}]`);
      else current().add({ text: `[${n}]`, styles: [...styles, "faint"], url: context.sourceUrl(n) });
    }
  };
  for (const token of tokens) {
    const opened = STYLES[token.type];
    const closed = CLOSING[token.type];
    const written = TEXTS[token.type]?.(token);
    if (opened !== undefined) styles.push(opened);
    else if (closed !== undefined) styles.splice(styles.lastIndexOf(closed), 1);
    else if (written !== undefined) write(written);
    else if (token.type === "code_inline") write(token.content, ["accent"]);
    else if (token.type === "softbreak") current().space();
    else if (token.type === "hardbreak") lines.push(createWords());
    else if (token.type === "citation") cite(token);
    else if (token.type === "link_open") link = { url: webUrl(String(token.attrGet("href"))), text: "" };
    else if (token.type === "link_close") {
      const { url, text } = link ?? {};
      link = undefined;
      if (context.writesUrls && url !== undefined && text !== url) write(` (${url})`, ["faint"]);
    }
  }
  return lines.map(({ words }) => words);
}

const LINK: readonly Style[] = ["underline"];

/** Pictures and formulas cannot be shown in a terminal. */
const TEXTS: Readonly<Record<string, (token: Token) => string>> = {
  text: ({ content }) => content,
  mark: ({ content }) => content,
  image: ({ content }) => `[${content.trim() === "" ? "picture" : content.trim()}]`,
  formula: (token) => formulaOf(token)?.source ?? "",
  footnote: ({ meta }) => `[^${String(meta?.["label"])}]`,
};
