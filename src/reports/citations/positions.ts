/** Where Google's citations stand in the cleaned text: it counts bytes of the text that it sent, before any cleaning. */

import { cleanText } from "../../platform/clean-text.ts";

export interface ByteCitation {
  n: number;
  start_byte: number;
  end_byte: number;
}

export interface CitationPlace {
  /** The number of characters before it. */
  at: number;
  n: number;
}

export interface PlacedReport {
  text: string;
  /** In order. */
  places: CitationPlace[];
}

/** `[cite: 1, 2]` and `[1]`; the longest ones are no citations. */
export const MARK = String.raw`\[(cite:[ \t]*)?(\d{1,4}(?:[ \t]*,[ \t]*\d{1,4}){0,49})\]`;

/** Not part of a link, an image or a definition. */
export const MARK_IN_TEXT = new RegExp(String.raw`(?<![\]!\\])${MARK}(?![(\[:])`, "gi");

export const numbersIn = (list: string): number[] => [...new Set(list.split(",").map(Number))];

export function placeCitations(report: string, citations: readonly ByteCitation[]): PlacedReport {
  if (citations.length === 0) return { text: cleanText(report), places: [] };
  const raw = report.toWellFormed();
  const marks = marksIn(raw);
  const loose = attach(marks, raw, citations);
  const changes = [...marks.flatMap(asChange), ...loose].toSorted((a, b) => a.start - b.start);
  let text = "";
  let copied = 0;
  const places: CitationPlace[] = [];
  for (const { start, end, numbers } of changes) {
    if (start > copied) text += cleanText(raw.slice(copied, start));
    copied = Math.max(copied, end);
    // The blank before a mark goes with it.
    if (end > start && text.endsWith(" ")) text = text.slice(0, -1);
    for (const n of numbers) places.push({ at: text.length, n });
  }
  // Once more, because what hides may have stood across a cut; then places are a little off, which breaks nothing.
  return { text: cleanText(text + cleanText(raw.slice(copied))), places };
}

/** The marks of a text with the citations that stand at each. */
export function citedMarks(raw: string, citations: readonly ByteCitation[]): Mark[] {
  if (citations.length === 0) return [];
  const marks = marksIn(raw);
  attach(marks, raw, citations);
  return marks;
}

interface Mark {
  start: number;
  end: number;
  isGoogles: boolean;
  numbers: number[];
  /** Those of the citations that stand at it. */
  cited: Set<number>;
}

const marksIn = (raw: string): Mark[] =>
  [...raw.matchAll(new RegExp(MARK, "gi"))].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    isGoogles: match[1] !== undefined,
    numbers: numbersIn(match[2] ?? ""),
    cited: new Set(),
  }));

interface Change {
  start: number;
  end: number;
  /** Citations that stand here instead. */
  numbers: number[];
}

/**
 * A mark counts as Google's list of sources does, which a report that was cut short no longer has; its citations know
 * the sources themselves and take its place.
 */
function asChange({ start, end, isGoogles, numbers, cited }: Mark): Change[] {
  if (isGoogles && cited.size >= numbers.length) {
    return [{ start, end, numbers: [...cited] }];
  }
  const missing = [...cited].filter((n) => !numbers.includes(n));
  return missing.length === 0 ? [] : [{ start: end, end, numbers: missing }];
}

/** Gives each citation to the mark at its end, and returns those that have none. */
function attach(marks: readonly Mark[], raw: string, citations: readonly ByteCitation[]): Change[] {
  const ends = indicesOf(
    raw,
    citations.map(({ end_byte }) => end_byte),
  );
  const loose = new Map<number, Set<number>>();
  const inOrder = citations
    .map(({ n, end_byte }) => ({ n, end: ends.get(end_byte) ?? raw.length }))
    .toSorted((a, b) => a.end - b.end);
  let next = 0;
  for (const { n, end } of inOrder) {
    while ((marks[next]?.end ?? Infinity) < end) next += 1;
    const mark = marks[next];
    if (mark !== undefined && mark.start <= end + spacesAt(raw, end)) mark.cited.add(n);
    else loose.set(end, (loose.get(end) ?? new Set()).add(n));
  }
  return [...loose].map(([end, numbers]) => ({ start: end, end, numbers: [...numbers] }));
}

const MOST_SPACES = 3;

function spacesAt(raw: string, at: number): number {
  let count = 0;
  while (count < MOST_SPACES && raw[at + count] === " ") count += 1;
  return count;
}

/** Bytes to characters in one pass; one that lies within a character, or a line end of two, is moved behind it. */
function indicesOf(raw: string, wanted: readonly number[]): Map<number, number> {
  const indices = new Map<number, number>();
  let byte = 0;
  let index = 0;
  for (const offset of wanted.toSorted((a, b) => a - b)) {
    while (byte < offset && index < raw.length) {
      const code = raw.codePointAt(index) ?? 0;
      byte += code < 0x80 ? 1 : code < 0x8_00 ? 2 : code < 0x1_00_00 ? 3 : 4;
      index += code < 0x1_00_00 ? 1 : 2;
    }
    indices.set(offset, raw[index - 1] === "\r" && raw[index] === "\n" ? index + 1 : index);
  }
  return indices;
}
