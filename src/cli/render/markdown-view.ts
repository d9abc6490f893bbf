/** Renders Markdown for a terminal: wrapped, with bold headings and dimmed URLs and citations. */

import type { Style, Paint } from "./paint.ts";
import { widthOf } from "./text-width.ts";

/** Longer lines are hard to read. */
const MAX_COLUMNS = 100;

interface Piece {
  text: string;
  style?: Style | undefined;
}
/** Pieces without a space between them: `**word**,` has two. */
type Word = Piece[];

export function markdownView(markdown: string, { width, paint }: { width: number; paint: Paint }): string {
  const space: Space = { width: Math.min(width, MAX_COLUMNS), paint };
  let fenced = false;
  return markdown
    .split("\n")
    .flatMap((line) => {
      const fence = /^\s*(?:```|~~~)/.test(line);
      if (fence) fenced = !fenced;
      return fence || fenced ? [paint("faint", line)] : lineView(line, space);
    })
    .join("\n");
}

interface Space {
  width: number;
  paint: Paint;
}

function lineView(line: string, space: Space): string[] {
  if (line.trim() === "") return [""];
  const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line);
  if (heading !== null) return wrapped(wordsOf(heading[1] ?? "", "strong"), { ...space, first: "", rest: "" });
  // Wrapping would destroy the columns of a table.
  if (/^\s*\|/.test(line)) return [line];
  if (/^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/.test(line)) return [space.paint("faint", "─".repeat(space.width))];
  const item = /^(\s{0,40})([-*+]|\d{1,9}[.)]|>)\s+(.*)$/.exec(line);
  if (item === null) return wrapped(wordsOf(line.trim()), { ...space, first: "", rest: "" });
  const [, indent = "", mark = "", text = ""] = item;
  const shownMark = mark === ">" ? "│" : /^[-*+]$/.test(mark) ? "•" : mark;
  const first = `${indent}${shownMark} `;
  const rest = mark === ">" ? first : " ".repeat(widthOf(first));
  return wrapped(wordsOf(text), { ...space, first, rest });
}

/** Every repetition is bounded, so that a hostile line takes linear time. */
const INLINE =
  /\*\*([^*\n]{1,1000})\*\*|`([^`\n]{1,1000})`|\[([^[\]\n]{1,500})\]\((https?:[^()\s]{1,2000})\)|(\[(?:cite: ?)?\d{1,4}(?:, ?\d{1,4}){0,30}\])|(https?:\/\/[^\s)]{1,2000})/g;

function wordsOf(text: string, style?: Style): Word[] {
  const words: Word[] = [];
  let glued = false;
  const add = ({ text: part, style: own }: Piece): void => {
    for (const [index, chunk] of part.split(/\s+/).entries()) {
      if (index > 0) glued = false;
      if (chunk === "") continue;
      const last = words.at(-1);
      if (glued && last !== undefined) last.push({ text: chunk, style: own ?? style });
      else words.push([{ text: chunk, style: own ?? style }]);
      glued = true;
    }
  };
  let read = 0;
  for (const match of text.matchAll(INLINE)) {
    add({ text: text.slice(read, match.index) });
    inlinePieces(match).forEach(add);
    read = match.index + match[0].length;
  }
  add({ text: text.slice(read) });
  return words;
}

function inlinePieces([whole, bold, code, label, url]: RegExpExecArray): Piece[] {
  if (bold !== undefined) return [{ text: bold, style: "strong" }];
  if (code !== undefined) return [{ text: code, style: "accent" }];
  if (label === undefined) return [{ text: whole, style: "faint" }];
  return [{ text: label }, { text: ` (${url ?? ""})`, style: "faint" }];
}

interface Lines extends Space {
  /** Prefix of the first line and of the others. */
  first: string;
  rest: string;
}

/** A word wider than the line is not broken, because a broken URL cannot be opened. */
function wrapped(words: Word[], { width, paint, first, rest }: Lines): string[] {
  const lines: string[] = [];
  let line = first;
  let taken = widthOf(first);
  let empty = true;
  for (const word of words) {
    const wide = word.reduce((sum, { text }) => sum + widthOf(text), 0);
    if (!empty && taken + 1 + wide > width) {
      lines.push(line);
      line = rest;
      taken = widthOf(rest);
      empty = true;
    }
    const painted = word.map(({ text, style }) => (style === undefined ? text : paint(style, text))).join("");
    line += empty ? painted : ` ${painted}`;
    taken += wide + (empty ? 0 : 1);
    empty = false;
  }
  return [...lines, line];
}
