/** Words with their styles, and how they are wrapped into lines. */

import type { Hyperlink, Paint, Style } from "./paint.ts";
import { charactersOf, cutToWidth, isWide, widthOf } from "./text-width.ts";

/** Text of one style. */
export interface Piece {
  text: string;
  styles: readonly Style[];
  url?: string | undefined;
}

/** Pieces between which no line may break: `**word**,` has two. */
export interface Word {
  pieces: Piece[];
  /** Whether a space precedes it when it is not the first of a line. */
  isSpaced: boolean;
}

export interface Line {
  pieces: Piece[];
  width: number;
}

export interface Space {
  width: number;
  paint: Paint;
  /** Undefined: URLs are written out. */
  link?: Hyperlink | undefined;
}

/** Collects pieces into words, of which a word may have several. */
export function createWords(): { words: Word[]; add(piece: Piece): void; space(): void } {
  const words: Word[] = [];
  let isGlued = false;
  let isSpaced = false;
  const push = (piece: Piece): void => {
    const last = words.at(-1);
    if (isGlued && last !== undefined) last.pieces.push(piece);
    else words.push({ pieces: [piece], isSpaced });
    isGlued = true;
    isSpaced = false;
  };
  const space = (): void => {
    isGlued = false;
    isSpaced = true;
  };
  return {
    words,
    space,
    add: ({ text, ...style }) => {
      for (const [index, chunk] of text.split(/\s+/).entries()) {
        if (index > 0) space();
        if (chunk === "") continue;
        for (const [at, part] of breakable(chunk).entries()) {
          if (at > 0) isGlued = false;
          push({ text: part, ...style });
        }
      }
    },
  };
}

/** Closing marks stay with the character before them. */
const CLOSING = /^[\p{Pe}\p{Pf}、。，．・：；？！ー]$/u;

/** Chinese and Japanese have no spaces: a line may break after each of their characters. */
function breakable(chunk: string): string[] {
  if (!isWide(chunk)) return [chunk];
  const parts: string[] = [];
  let wasWide = true;
  for (const character of charactersOf(chunk)) {
    const wide = isWide(character);
    if (parts.length > 0 && (CLOSING.test(character) || (!wide && !wasWide))) parts.push(parts.pop() + character);
    else parts.push(character);
    wasWide = wide;
  }
  return parts;
}

const wordWidth = ({ pieces }: Word): number => pieces.reduce((sum, { text }) => sum + widthOf(text), 0);

/** A broken URL cannot be copied. */
const isUrl = ({ pieces }: Word): boolean => pieces.some(({ text }) => /^[(<]?https?:\/\//.test(text));

export interface Wrapping {
  width: number;
  /** URLs that are wider than a line are broken, too: in a table nothing may be wider than its column. */
  breaksUrls?: boolean;
}

export function wrapWords(words: readonly Word[], { width, breaksUrls = false }: Wrapping): Line[] {
  const lines: Line[] = [];
  let line: Line = { pieces: [], width: 0 };
  const end = (): void => {
    lines.push(line);
    line = { pieces: [], width: 0 };
  };
  const append = (pieces: readonly Piece[], wide: number): void => {
    line.pieces.push(...pieces);
    line.width += wide;
  };
  for (const word of words) {
    const wide = wordWidth(word);
    const gap = word.isSpaced && line.width > 0 ? 1 : 0;
    if (line.width > 0 && line.width + gap + wide > width) end();
    else if (gap === 1) append([gapBetween(line.pieces.at(-1), word.pieces[0])], 1);
    if (wide <= width || (!breaksUrls && isUrl(word))) {
      append(word.pieces, wide);
      continue;
    }
    for (const part of word.pieces.flatMap(characterPieces)) {
      const partWidth = widthOf(part.text);
      if (line.width > 0 && line.width + partWidth > width) end();
      append([part], partWidth);
    }
  }
  if (line.pieces.length > 0 || lines.length === 0) end();
  return lines;
}

/** The lines of a plain text: it breaks between words, and a word wider than a line is broken. */
export function wrapToWidth(text: string, width: number): string[] {
  const { words, add } = createWords();
  add({ text, styles: [] });
  if (words.length === 0) return [];
  const lines = wrapWords(words, { width: Math.max(2, width), breaksUrls: true });
  return lines.map(({ pieces }) => pieces.map((piece) => piece.text).join(""));
}

/** The first lines of a wrapped text; the last ends with an ellipsis when there is more. */
export function wrapToLines(text: string, width: number, maxLines: number): string[] {
  const lines = wrapToWidth(text, width);
  if (lines.length <= maxLines) return lines;
  return [...lines.slice(0, maxLines - 1), cutToWidth(lines.slice(maxLines - 1).join(" "), width)].slice(
    0,
    Math.max(0, maxLines),
  );
}

/** The space between two words of one link or style belongs to it. */
function gapBetween(before: Piece | undefined, after: Piece | undefined): Piece {
  const styles = before?.styles.filter((style) => after?.styles.includes(style)) ?? [];
  return { text: " ", styles, url: before?.url === after?.url ? before?.url : undefined };
}

const characterPieces = (piece: Piece): Piece[] => charactersOf(piece.text).map((text) => ({ ...piece, text }));

/** Adjacent pieces with the same style are painted together, so that a link of several words is one link. */
export function paintLine({ pieces }: Line, { paint, link }: Space): string {
  const groups: Piece[] = [];
  for (const piece of pieces) {
    const last = groups.at(-1);
    if (last !== undefined && last.url === piece.url && last.styles.join() === piece.styles.join()) {
      last.text += piece.text;
    } else groups.push({ ...piece });
  }
  return groups
    .map(({ text, styles, url }) => {
      const painted = styles.reduce((shown, style) => paint(style, shown), text);
      return url === undefined || link === undefined ? painted : link(url, painted);
    })
    .join("");
}
