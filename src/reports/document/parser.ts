/**
 * The Markdown parser of reports: markdown-it, bounded against hostile text, with the exact range in the source of every
 * inline token. markdown-it itself records lines only, and table cells lose their escaped bars before they are parsed.
 */

import markdownIt, { type MarkdownIt, type StateBlock, type StateInline, type Token } from "markdown-it";
import { clipped, endIn, type Piece, type Range, rangeOf, type Span, spans, startIn } from "./ranges.ts";

export const createToken = (type: string, tag = "", nesting: -1 | 0 | 1 = 0): Token =>
  new markdownIt.Token(type, tag, nesting);

/** Links are not checked here: rejected by the parser, a link would stay in the text as Markdown. */
export function createParser(): MarkdownIt {
  const md = markdownIt({ html: false, linkify: false, typographer: false });
  md.validateLink = () => true;
  let source = "";
  md.core.ruler.before("normalize", "source", ({ src }) => {
    source = src;
  });
  const rows = recordRows(md);
  const locals = recordInlines(md);
  md.core.ruler.at("inline", (state) => {
    const lines = linesOf(source);
    let cells: Piece[][] = [];
    for (const [at, token] of state.tokens.entries()) {
      if (token.type === "tr_open") cells = cellPieces(lines[token.map?.[0] ?? 0], rows.get(token) ?? 0).toReversed();
      if (token.type !== "inline" || token.children === null) continue;
      const pieces = token.map === null ? (cells.pop() ?? []) : linePieces(lines, token, state.tokens[at - 1]);
      const { length } = token.content;
      spans.set(token, { start: startIn(pieces, 0), end: endIn(pieces, length), pieces });
      if (isReadable(token.content)) md.inline.parse(token.content, md, state.env, token.children);
      else {
        const text = Object.assign(createToken("text"), { content: token.content });
        locals.set(text, { from: 0, to: length, inner: 0 });
        token.children.push(text);
      }
      for (const child of token.children) spans.set(child, spanned(pieces, locals.get(child), child.content.length));
    }
  });
  // Both join the texts of tokens and would lose their ranges.
  md.inline.ruler2.disable("fragments_join");
  md.core.ruler.at("text_join", ({ tokens }) => {
    for (const token of tokens) if (token.children !== null) token.children = joinTexts(token.children);
  });
  return md;
}

/** Longer paragraphs become plain text: parsing links in them could take minutes. */
const MAX_INLINE_CHARACTERS = 20_000;
/** For every bracket the parser scans the rest of the text: brackets times characters. */
const MAX_BRACKET_WORK = 3_000_000;

const isReadable = (text: string): boolean =>
  text.length <= MAX_INLINE_CHARACTERS && text.length * (text.split("[").length - 1) <= MAX_BRACKET_WORK;

/** Where a token is in the content of its block; `inner` is where its own content begins, if it is verbatim there. */
interface Local {
  from: number;
  to: number;
  inner?: number | undefined;
}

/** Runs the same loop as markdown-it and records where each rule began and ended. */
function recordInlines({ inline, options }: MarkdownIt): WeakMap<Token, Local> {
  const locals = new WeakMap<Token, Local>();
  const pendingFrom = new WeakMap<StateInline, number>();
  inline.State = class extends inline.State {
    override pushPending(): Token {
      const token = super.pushPending();
      const from = pendingFrom.get(this) ?? 0;
      locals.set(token, { from, to: from + token.content.length, inner: from });
      return token;
    }
  };
  inline.tokenize = (state) => {
    const rules = inline.ruler.getRules("");
    while (state.pos < state.posMax) {
      const from = state.pos;
      const { length: count } = state.tokens;
      const wasPending = state.pending !== "";
      const isRead = state.level < (options.maxNesting ?? 0) && rules.some((rule) => rule(state, false));
      if (!isRead) state.pending += state.src[state.pos++];
      const isAdded = state.tokens.length > count;
      if (isAdded) locate(locals, state, { from, count });
      if (state.pending !== "" && (isAdded || !wasPending)) pendingFrom.set(state, from);
    }
    if (state.pending !== "") state.pushPending();
  };
  return locals;
}

/** Delimiters of emphasis are pushed one by one as text; the tokens of any other rule share its range. */
function locate(
  locals: WeakMap<Token, Local>,
  { tokens, pos: to }: StateInline,
  { from, count }: { from: number; count: number },
): void {
  const added = tokens.slice(count).filter((token) => !locals.has(token));
  const areDelimiters = added.every(({ type }) => type === "text");
  let at = from;
  for (const token of added) {
    const { length } = token.content;
    // Between the backticks of code, and a space if there is one at both ends; between the brackets of an autolink.
    const inner = (from + to - length) / 2;
    if (areDelimiters) locals.set(token, { from: at, to: at + length, inner: at });
    else if (token.type === "code_inline") locals.set(token, { from, to, inner });
    else if (token.type === "text")
      locals.set(token, { from: from + 1, to: to - 1, inner: inner === from + 1 ? inner : undefined });
    else locals.set(token, { from, to });
    at += length;
  }
}

function spanned(pieces: readonly Piece[], local: Local | undefined, size: number): Span {
  const { from, to, inner } = local ?? { from: 0, to: 0 };
  const start = startIn(pieces, from);
  const range = { start, end: to > from ? endIn(pieces, to) : start };
  return { ...range, pieces: inner === undefined ? [{ at: 0, size, ...range }] : clipped(pieces, inner, inner + size) };
}

function joinTexts(tokens: readonly Token[]): Token[] {
  const joined: Token[] = [];
  let open = { start: 0, end: 0, pieces: [] as Piece[] };
  let marker: Range | undefined;
  for (const [at, token] of tokens.entries()) {
    if (token.children !== null) token.children = joinTexts(token.children);
    if (token.content === "~") moveBehind(token, tokens, at - 1);
    const span = spans.get(token) ?? { start: 0, end: 0, pieces: [] };
    const last = joined.at(-1);
    if (token.type === "text_special") token.type = "text";
    if (token.type === "text" && token.content === "") {
      // The second star of `**`: before an opening token, or after a closing one.
      if (last?.type === "strong_close") spans.set(last, { ...span, start: rangeOf(last).start });
      else marker = span;
    } else if (token.type === "text" && last?.type === "text") {
      const offset = last.content.length;
      last.content += token.content;
      for (const piece of span.pieces) open.pieces.push({ ...piece, at: piece.at + offset });
      spans.set(last, { start: open.start, end: (open.end = span.end), pieces: open.pieces });
    } else {
      open = { start: marker?.start ?? span.start, end: span.end, pieces: [...span.pieces] };
      marker = undefined;
      spans.set(token, open);
      joined.push(token);
    }
  }
  return joined;
}

/** markdown-it moves the lone sign of `~~a~~~` behind the closing tokens that follow it. */
function moveBehind(sign: Token, tokens: readonly Token[], before: number): void {
  for (let at = before; at >= 0; at -= 1) {
    const closing = tokens[at];
    if (closing?.type !== "s_close" || rangeOf(closing).start < rangeOf(sign).start) return;
    const { start } = rangeOf(sign);
    spans.set(closing, { start, end: start + 2, pieces: [] });
    spans.set(sign, {
      start: start + 2,
      end: start + 3,
      pieces: [{ at: 0, size: 1, start: start + 2, end: start + 3 }],
    });
  }
}

/** A line of the source without its end, and where it begins. */
interface Line {
  text: string;
  start: number;
}

function linesOf(source: string): Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (const { index, 0: lineEnd } of source.matchAll(/\r\n?|\n/g)) {
    lines.push({ text: source.slice(start, index), start });
    start = index + lineEnd.length;
  }
  lines.push({ text: source.slice(start), start });
  return lines;
}

const SPACE = /[\t\v\f\r ]/;

/**
 * Each line of the content is the end of a source line, after the marks of its containers; the last one without the
 * space after it.
 */
function linePieces(lines: readonly Line[], { content, map }: Token, before: Token | undefined): Piece[] {
  const first = map?.[0] ?? 0;
  const texts = content.split("\n");
  const pieces: Piece[] = [];
  let at = 0;
  for (const [index, text] of texts.entries()) {
    const { text: line, start } = lines[first + index] ?? { text: "", start: 0 };
    const isLast = index === texts.length - 1;
    const end = isLast ? endOfText(line, before?.markup.startsWith("#") === true) : line.length;
    // A tab that the parser replaced by spaces makes the content longer than its line.
    const added = Math.max(0, text.length - end);
    if (added > 0) pieces.push({ at, size: added, start, end: start });
    pieces.push({
      at: at + added,
      size: text.length - added,
      start: start + end - text.length + added,
      end: start + end,
    });
    at += text.length;
    const next = lines[first + index + 1]?.start ?? start + line.length;
    if (!isLast) pieces.push({ at, size: 1, start: start + line.length, end: next });
    at += 1;
  }
  return pieces;
}

/** Without the space at the end and, of a heading, without its closing # signs. */
function endOfText(line: string, isHeading: boolean): number {
  const back = (from: number, isSkipped: (character: string) => boolean): number => {
    let end = from;
    while (end > 0 && isSkipped(line.charAt(end - 1))) end -= 1;
    return end;
  };
  const isSpace = (character: string): boolean => SPACE.test(character);
  const end = back(line.length, isSpace);
  const closing = isHeading ? back(end, (character) => character === "#") : end;
  return closing < end && isSpace(line.charAt(closing - 1)) ? back(closing, isSpace) : end;
}

/** Where the cells of a row begin on its line, after the marks of its containers. */
function recordRows({ block }: MarkdownIt): WeakMap<Token, number> {
  const columns = new WeakMap<Token, number>();
  const table = (state: StateBlock, ...rest: [number, number, boolean]): boolean => {
    const count = state.tokens.length;
    const isTable = originalTable(state, ...rest);
    for (const token of state.tokens.slice(count)) {
      if (token.type !== "tr_open" || token.map === null) continue;
      const at = (state.bMarks[token.map[0]] ?? 0) + (state.tShift[token.map[0]] ?? 0);
      columns.set(token, at - state.src.lastIndexOf("\n", at - 1) - 1);
    }
    return isTable;
  };
  block.ruler.at("table", table, { alt: ["paragraph", "reference"] });
  return columns;
}

type BlockRule = ReturnType<MarkdownIt["block"]["ruler"]["getRules"]>[number];

/** markdown-it's own rule, for one that replaces it. Called once for each rule: it creates a parser. */
export function originalRule(name: string): BlockRule {
  const { ruler } = markdownIt().block;
  ruler.enableOnly(name);
  return ruler.getRules("")[0] ?? (() => false);
}

const originalTable = originalRule("table");

/** Without its indentation. */
export const lineOf = ({ src, bMarks, tShift, eMarks }: StateBlock, line: number): string =>
  src.slice((bMarks[line] ?? 0) + (tShift[line] ?? 0), eMarks[line]);

/** As markdown-it divides a row: at each bar without a backslash before it. */
function cellPieces(line: Line | undefined, column: number): Piece[][] {
  const { text, start } = line ?? { text: "", start: 0 };
  const row = text.slice(column).trim();
  const offset = start + column + (text.length - column - text.slice(column).trimStart().length);
  const cells: { from: number; to: number }[] = [];
  let from = 0;
  for (let bar = row.indexOf("|"); bar !== -1; bar = row.indexOf("|", bar + 1)) {
    if (row[bar - 1] === "\\") continue;
    cells.push({ from, to: bar });
    from = bar + 1;
  }
  cells.push({ from, to: row.length });
  if (cells[0]?.to === 0) cells.shift();
  const last = cells.at(-1);
  if (last !== undefined && last.from === last.to) cells.pop();
  return cells.map((cell) => cellContent(row.slice(cell.from, cell.to), offset + cell.from));
}

function cellContent(cell: string, start: number): Piece[] {
  const pieces: Piece[] = [];
  const end = cell.trimEnd().length;
  let copied = cell.length - cell.trimStart().length;
  let at = 0;
  const add = (size: number, to: number): void => {
    if (size > 0) pieces.push({ at, size, start: start + copied, end: start + to });
    at += size;
    copied = to;
  };
  for (let bar = cell.indexOf("|"); bar !== -1; bar = cell.indexOf("|", bar + 1)) {
    add(bar - 1 - copied, bar - 1);
    add(1, bar + 1);
  }
  add(end - copied, end);
  return pieces;
}
