/**
 * Assigns each citation with a known text position to the inline token that contains it, line by line and cell by cell.
 */

import type { Token } from "markdown-it";
import type { CitationPosition } from "./positions.ts";

/**
 * The citations of one inline token, with positions relative to its content; `next` is the first one not emitted yet.
 */
interface InlineCitations {
  positions: CitationPosition[];
  next: number;
}

/**
 * Keyed by the token list that the inline parser fills, which is all that identifies the current inline token there.
 */
export type InlineCitationMap = Map<Token[], InlineCitations>;

interface LinePosition {
  line: number;
  column: number;
  n: number;
}

interface Walk {
  lines: readonly string[];
  positions: readonly LinePosition[];
  next: number;
  inlines: InlineCitationMap;
  /** The previous inline token; it receives citations that lie in no token. */
  last: Token | undefined;
}

/** Returns the citations inside code blocks, which are rendered after the block. */
export function assignToBlocks(
  tokens: readonly Token[],
  { text, positions, inlines }: { text: string; positions: readonly CitationPosition[]; inlines: InlineCitationMap },
): Map<Token, number[]> {
  const lines = text.split("\n");
  const walk: Walk = { lines, positions: byLine(positions, lines), next: 0, inlines, last: undefined };
  const afterCode = new Map<Token, number[]>();
  let row: { line: number; from: number } | undefined;
  for (const token of tokens) {
    if (token.type === "tr_open" && token.map !== null) row = { line: token.map[0], from: 0 };
    else if (token.type === "tr_close") row = undefined;
    else if (token.type === "inline" && row !== undefined) row.from = assignCell(walk, token, row);
    else if (token.type === "inline" && token.map !== null) assignLines(walk, token, token.map);
    else if ((token.type === "fence" || token.type === "code_block") && token.map !== null) {
      flushBefore(walk, token.map[0]);
      afterCode.set(token, takeBefore(walk, token.map[1]));
    }
  }
  flushBefore(walk, Infinity);
  return afterCode;
}

function byLine(positions: readonly CitationPosition[], lines: readonly string[]): LinePosition[] {
  let line = 0;
  let start = 0;
  return positions.map(({ at, n }) => {
    while (line < lines.length - 1 && start + (lines[line]?.length ?? 0) < at) {
      start += (lines[line]?.length ?? 0) + 1;
      line += 1;
    }
    return { line, column: atWordEnd(lines[line] ?? "", at - start), n };
  });
}

const LETTER = /[\dA-Za-z\u00C0-\u024F]/;

/** Limit for moving a citation past letters or spaces. */
const MAX_WORD_SCAN = 50;

/** Moves a citation back before spaces and forward to the end of a word. */
function atWordEnd(line: string, column: number): number {
  let at = Math.min(column, line.length);
  const first = at - MAX_WORD_SCAN;
  while (at > first && line[at - 1] === " ") at -= 1;
  const last = at + MAX_WORD_SCAN;
  while (at > 0 && at < last && LETTER.test(line[at - 1] ?? "") && LETTER.test(line[at] ?? "")) at += 1;
  return at;
}

function add({ inlines }: Walk, token: Token | undefined, position: CitationPosition): void {
  if (token?.children == null) return;
  const known = inlines.get(token.children);
  if (known === undefined) inlines.set(token.children, { positions: [position], next: 0 });
  else known.positions.push(position);
}

function takeBefore(walk: Walk, line: number): number[] {
  const numbers: number[] = [];
  for (let position = walk.positions[walk.next]; position !== undefined && position.line < line;) {
    numbers.push(position.n);
    position = walk.positions[(walk.next += 1)];
  }
  return numbers;
}

function flushBefore(walk: Walk, line: number): void {
  for (const n of takeBefore(walk, line)) add(walk, walk.last, { at: Infinity, n });
}

/** Each content line is the end of its source line, after the markers of lists and quotes. */
function assignLines(walk: Walk, token: Token, [from, to]: [number, number]): void {
  flushBefore(walk, from);
  walk.last = token;
  if ((walk.positions[walk.next]?.line ?? Infinity) >= to) return;
  let offset = 0;
  const content = token.content.split("\n");
  for (let line = from; line < to; line += 1) {
    const text = content[line - from];
    if (text === undefined) break;
    const source = walk.lines[line] ?? "";
    const start = (walk.positions[walk.next]?.line ?? Infinity) === line ? source.lastIndexOf(text) : 0;
    for (
      let position = walk.positions[walk.next];
      position?.line === line;
      position = walk.positions[(walk.next += 1)]
    ) {
      const column = start === -1 ? text.length : Math.min(Math.max(position.column - start, 0), text.length);
      add(walk, token, { at: offset + column, n: position.n });
    }
    offset += text.length + 1;
  }
  flushBefore(walk, to);
}

/** How far after the previous cell a cell is searched for: padding, and the bars of cells that were skipped. */
const MAX_CELL_GAP = 1_000;

/** Returns the end of the cell on its line. A cell that is not found there (it has escaped bars) is skipped. */
function assignCell(walk: Walk, token: Token, { line, from }: { line: number; from: number }): number {
  flushBefore(walk, line);
  walk.last = token;
  // Most lines have no citations and need no search.
  if (walk.positions[walk.next]?.line !== line) return from;
  const near = (walk.lines[line] ?? "").slice(from, from + token.content.length + MAX_CELL_GAP);
  const found = near.indexOf(token.content);
  if (found === -1) return from + token.content.length;
  const start = from + found;
  const end = start + token.content.length;
  for (let position = walk.positions[walk.next]; position?.line === line && position.column <= end;) {
    add(walk, token, { at: Math.max(position.column - start, 0), n: position.n });
    position = walk.positions[(walk.next += 1)];
  }
  return end;
}
