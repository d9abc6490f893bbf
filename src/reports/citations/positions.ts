/**
 * Converts Google's citation offsets, which count bytes of the text before cleaning, to positions in the cleaned text.
 */

import { cleanText } from "../../platform/clean-text.ts";

export interface ByteCitation {
  n: number;
  start_byte: number;
  end_byte: number;
}

export interface CitationPosition {
  /** Characters before the citation. */
  at: number;
  n: number;
}

export interface LocatedCitations {
  text: string;
  /** Ascending. */
  positions: CitationPosition[];
}

/** `[cite: 1, 2]` and `[1]`, with at most 50 numbers. */
export const MARK = String.raw`\[(cite:[ \t]*)?(\d{1,4}(?:[ \t]*,[ \t]*\d{1,4}){0,49})\]`;

/** `[1]` may also be a part of a link, a definition at the start of a line, or array[1]; Google's mark is none of these. */
const PLAIN_IN_TEXT = String.raw`(?<![\]\w])(?!\[[\d, \t]+\]\[)(?<!^[ \t]{0,3}(?=\[[\d, \t]+\]:))`;

/** Excludes the texts of links and images. */
export const MARK_IN_TEXT = new RegExp(String.raw`(?=\[)(?<![!\\])(?:(?=\[cite)|${PLAIN_IN_TEXT})${MARK}(?!\()`, "gim");

/** Google's mark before a cited text, which no reader needs. */
const START_MARK = /\[cite_start\]/gi;

export const withoutStartMarks = (text: string): string =>
  text.includes("[") ? text.replaceAll(START_MARK, "") : text;

export const numbersIn = (list: string): number[] => [...new Set(list.split(",").map(Number))];

export function locateCitations(report: string, citations: readonly ByteCitation[]): LocatedCitations {
  if (citations.length === 0) return { text: cleanText(withoutStartMarks(report)), positions: [] };
  const raw = report.toWellFormed();
  const marks = marksIn(raw);
  const loose = attach(marks, raw, citations);
  const changes = [...marks.flatMap(asChange), ...loose].toSorted((a, b) => a.start - b.start);
  let text = "";
  let copied = 0;
  const positions: CitationPosition[] = [];
  for (const { start, end, numbers } of changes) {
    if (start > copied) text += cleanText(withoutStartMarks(raw.slice(copied, start)));
    copied = Math.max(copied, end);
    // The space before a mark is removed with it.
    if (end > start && text.endsWith(" ")) text = text.slice(0, -1);
    for (const n of numbers) positions.push({ at: text.length, n });
  }
  // Cleaned once more because an invisible sequence may span a cut. Positions after it may then be slightly off, which
  // is harmless.
  return { text: cleanText(text + cleanText(withoutStartMarks(raw.slice(copied)))), positions };
}

/** The marks in a text, each with the citations at its end. */
export function citedMarks(raw: string, citations: readonly ByteCitation[]): Mark[] {
  if (citations.length === 0) return [];
  const marks = marksIn(raw);
  attach(marks, raw, citations);
  return marks;
}

interface Mark {
  start: number;
  end: number;
  isGoogleMark: boolean;
  numbers: number[];
  /** Source numbers of the citations at this mark. */
  cited: Set<number>;
}

const marksIn = (raw: string): Mark[] =>
  [...raw.matchAll(new RegExp(MARK, "gi"))].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    isGoogleMark: match[1] !== undefined,
    numbers: numbersIn(match[2] ?? ""),
    cited: new Set(),
  }));

interface Change {
  start: number;
  end: number;
  /** Citations to insert here. */
  numbers: number[];
}

/**
 * Google's citations identify the sources, so they replace a mark whose numbers refer to Google's source list, which a
 * report that was cut off no longer has.
 */
function asChange({ start, end, isGoogleMark, numbers, cited }: Mark): Change[] {
  if (isGoogleMark && cited.size >= numbers.length) {
    return [{ start, end, numbers: [...cited] }];
  }
  const missing = [...cited].filter((n) => !numbers.includes(n));
  return missing.length === 0 ? [] : [{ start: end, end, numbers: missing }];
}

/** Adds each citation to the mark at its end, and returns the citations without a mark. */
function attach(marks: readonly Mark[], raw: string, citations: readonly ByteCitation[]): Change[] {
  const ends = indicesOfBytes(
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

const MAX_SPACES = 3;

function spacesAt(raw: string, at: number): number {
  let count = 0;
  while (count < MAX_SPACES && raw[at + count] === " ") count += 1;
  return count;
}

/** Converts byte offsets to character indices in one pass. An offset inside a character or a CRLF moves after it. */
export function indicesOfBytes(raw: string, wanted: readonly number[]): Map<number, number> {
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
