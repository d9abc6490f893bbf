/** The ranges of tokens in the source, and of each character of their content. */

import type { Token } from "markdown-it";

/** In UTF-16 units of the source. */
export interface Range {
  start: number;
  end: number;
}

/** `size` characters of a token's content and their range in the source, of equal length unless they were escaped. */
export interface Piece extends Range {
  at: number;
  size: number;
}

export interface Span extends Range {
  /** Of the token's content, in order. */
  pieces: readonly Piece[];
}

export const spans = new WeakMap<Token, Span>();

/** The content of an inline token in pieces, with their ranges. */
export const piecesOf = (token: Token): readonly Piece[] => spans.get(token)?.pieces ?? [];

/** The range of an inline token; both tokens of a link have that of the whole link. */
export function rangeOf(token: Token): Range {
  const { start, end } = spans.get(token) ?? { start: 0, end: 0 };
  return { start, end };
}

/** Two texts for one: what is before a position in the source, and the rest. */
export function splitAt(token: Token, position: number): [Token, Token] {
  const { start, end, pieces } = spans.get(token) ?? { start: 0, end: 0, pieces: [] };
  const index = indexIn(pieces, position);
  const [head, tail] = [copyOf(token, token.content.slice(0, index)), copyOf(token, token.content.slice(index))];
  spans.set(head, { start, end: position, pieces: clipped(pieces, 0, index) });
  spans.set(tail, { start: position, end, pieces: clipped(pieces, index, token.content.length) });
  return [head, tail];
}

/** Drops the space at the end of a text. */
export function trimEnd(token: Token): void {
  const { start, pieces } = spans.get(token) ?? { start: 0, pieces: [] };
  token.content = token.content.trimEnd();
  const { length } = token.content;
  spans.set(token, { start, end: length === 0 ? start : endIn(pieces, length), pieces: clipped(pieces, 0, length) });
}

/** The characters of the content before a position in the source; a position in an escape is after it. */
function indexIn(pieces: readonly Piece[], position: number): number {
  const piece = pieces.findLast(({ start }) => start < position);
  if (piece === undefined) return 0;
  return piece.at + (isVerbatim(piece) ? Math.min(position - piece.start, piece.size) : piece.size);
}

const copyOf = (token: Token, content: string): Token =>
  Object.assign(Object.create(Object.getPrototypeOf(token)), token, { content });

const isVerbatim = ({ size, start, end }: Piece): boolean => size === end - start;

export function startIn(pieces: readonly Piece[], index: number): number {
  const piece = pieces[lastAt(pieces, index)];
  if (piece === undefined) return 0;
  if (index >= piece.at + piece.size) return piece.end;
  return isVerbatim(piece) ? piece.start + index - piece.at : piece.start;
}

/** The position after the first `index` characters. */
export function endIn(pieces: readonly Piece[], index: number): number {
  const piece = pieces[lastAt(pieces, index - 1)];
  if (piece === undefined) return 0;
  return isVerbatim(piece) ? Math.min(piece.end, piece.start + Math.max(0, index - piece.at)) : piece.end;
}

/** The last piece that begins at or before the index. */
function lastAt(pieces: readonly Piece[], index: number): number {
  let low = 0;
  for (let high = pieces.length; high - low > 1;) {
    const middle = (low + high) >> 1;
    if ((pieces[middle]?.at ?? 0) <= index) low = middle;
    else high = middle;
  }
  return low;
}

export function clipped(pieces: readonly Piece[], from: number, to: number): Piece[] {
  const result: Piece[] = [];
  for (let next = lastAt(pieces, from); next < pieces.length; next += 1) {
    const piece = pieces[next];
    if (piece === undefined || piece.at >= to) break;
    const [at, end] = [Math.max(piece.at, from), Math.min(piece.at + piece.size, to)];
    if (end <= at) continue;
    const range = isVerbatim(piece)
      ? { start: piece.start + at - piece.at, end: piece.start + end - piece.at }
      : { start: piece.start, end: piece.end };
    result.push({ at: at - from, size: end - at, ...range });
  }
  return result;
}
