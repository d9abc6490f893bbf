/** Gives each citation that is known by its place to the piece of text it lies in, line by line and cell by cell. */

import type { Token } from "markdown-it";
import type { CitationPlace } from "./positions.ts";

/** The citations of one piece of text, counted from its beginning, and how many of them have been set. */
interface PieceCitations {
  places: CitationPlace[];
  next: number;
}

/** By the list that the piece's tokens are written to: the reader of a piece knows nothing else of where it is. */
export type PieceMap = Map<Token[], PieceCitations>;

interface LinePlace {
  line: number;
  column: number;
  n: number;
}

interface Walk {
  lines: readonly string[];
  places: readonly LinePlace[];
  next: number;
  pieces: PieceMap;
  /** The piece before, to whose end everything goes that lies in none. */
  last: Token | undefined;
}

/** Returns the citations of blocks that hold no text but code: they stand after it. */
export function distribute(
  tokens: readonly Token[],
  { text, places, pieces }: { text: string; places: readonly CitationPlace[]; pieces: PieceMap },
): Map<Token, number[]> {
  const lines = text.split("\n");
  const walk: Walk = { lines, places: byLine(places, lines), next: 0, pieces, last: undefined };
  const afterCode = new Map<Token, number[]>();
  let row: { line: number; from: number } | undefined;
  for (const token of tokens) {
    if (token.type === "tr_open" && token.map !== null) row = { line: token.map[0], from: 0 };
    else if (token.type === "tr_close") row = undefined;
    else if (token.type === "inline" && row !== undefined) row.from = takeCell(walk, token, row);
    else if (token.type === "inline" && token.map !== null) takeLines(walk, token, token.map);
    else if ((token.type === "fence" || token.type === "code_block") && token.map !== null) {
      settle(walk, token.map[0]);
      afterCode.set(token, takeBefore(walk, token.map[1]));
    }
  }
  settle(walk, Infinity);
  return afterCode;
}

function byLine(places: readonly CitationPlace[], lines: readonly string[]): LinePlace[] {
  let line = 0;
  let start = 0;
  return places.map(({ at, n }) => {
    while (line < lines.length - 1 && start + (lines[line]?.length ?? 0) < at) {
      start += (lines[line]?.length ?? 0) + 1;
      line += 1;
    }
    return { line, column: atWordEnd(lines[line] ?? "", at - start), n };
  });
}

const LETTER = /[\dA-Za-z\u00C0-\u024F]/;

/** A word of more letters, or a gap of more blanks, is not walked through for each citation in it. */
const LONGEST_WALK = 50;

/** After the blanks of the text that is cited, or in the middle of a word, it would look like a mistake. */
function atWordEnd(line: string, column: number): number {
  let at = Math.min(column, line.length);
  const first = at - LONGEST_WALK;
  while (at > first && line[at - 1] === " ") at -= 1;
  const last = at + LONGEST_WALK;
  while (at > 0 && at < last && LETTER.test(line[at - 1] ?? "") && LETTER.test(line[at] ?? "")) at += 1;
  return at;
}

function add({ pieces }: Walk, token: Token | undefined, place: CitationPlace): void {
  if (token?.children == null) return;
  const known = pieces.get(token.children);
  if (known === undefined) pieces.set(token.children, { places: [place], next: 0 });
  else known.places.push(place);
}

function takeBefore(walk: Walk, line: number): number[] {
  const numbers: number[] = [];
  for (let place = walk.places[walk.next]; place !== undefined && place.line < line;) {
    numbers.push(place.n);
    place = walk.places[(walk.next += 1)];
  }
  return numbers;
}

function settle(walk: Walk, line: number): void {
  for (const n of takeBefore(walk, line)) add(walk, walk.last, { at: Infinity, n });
}

/** A line of a piece is the end of the line it was written on, what it is nested in taken away. */
function takeLines(walk: Walk, token: Token, [from, to]: [number, number]): void {
  settle(walk, from);
  walk.last = token;
  if ((walk.places[walk.next]?.line ?? Infinity) >= to) return;
  let offset = 0;
  const content = token.content.split("\n");
  for (let line = from; line < to; line += 1) {
    const text = content[line - from];
    if (text === undefined) break;
    const source = walk.lines[line] ?? "";
    const start = (walk.places[walk.next]?.line ?? Infinity) === line ? source.lastIndexOf(text) : 0;
    for (let place = walk.places[walk.next]; place?.line === line; place = walk.places[(walk.next += 1)]) {
      const column = start === -1 ? text.length : Math.min(Math.max(place.column - start, 0), text.length);
      add(walk, token, { at: offset + column, n: place.n });
    }
    offset += text.length + 1;
  }
  settle(walk, to);
}

/** How far behind the cell before a cell is looked for: blanks that line up a table, and the bars of cells passed over. */
const WIDEST_GAP = 1_000;

/** Where the cell ends on its line; one that is not found there, for its escaped bars, is passed over. */
function takeCell(walk: Walk, token: Token, { line, from }: { line: number; from: number }): number {
  settle(walk, line);
  walk.last = token;
  // Without citations on its line there is nothing to find, and most lines have none.
  if (walk.places[walk.next]?.line !== line) return from;
  const near = (walk.lines[line] ?? "").slice(from, from + token.content.length + WIDEST_GAP);
  const found = near.indexOf(token.content);
  if (found === -1) return from + token.content.length;
  const start = from + found;
  const end = start + token.content.length;
  for (let place = walk.places[walk.next]; place?.line === line && place.column <= end;) {
    add(walk, token, { at: Math.max(place.column - start, 0), n: place.n });
    place = walk.places[(walk.next += 1)];
  }
  return end;
}
