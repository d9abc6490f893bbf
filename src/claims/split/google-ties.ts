/** Ranges of a report that Google's annotations and grounding supports tie to sources. */

import { type CitedRange, MARK } from "../../reports/citations.ts";

/** A segment of an answer and the URLs of the pages that Google names for it. */
export interface GroundedSegment {
  /** As Google quotes it from the answer, which may be JSON with an escaped report. */
  text: string;
  urls: readonly string[];
}

/** A range of the report in UTF-16 units; an empty range is a position after the cited text. */
export interface Tie {
  start: number;
  end: number;
  source: number;
}

/** A longer range cites its end only: a start that Google leaves out is read as 0. */
const MAX_RANGE_CHARACTERS = 2_000;
const MAX_TIES = 20_000;

const MARKS = new RegExp(String.raw`${MARK}|\[cite_start\]|\[[^[\]\n]{0,300}\]\(https?:[^\s()]{1,2000}\)`, "gi");

/** Annotations cover the marker, as in Deep Research, or the cited text; the text of the range decides. */
export function annotationTies(report: string, citations: readonly CitedRange[]): Tie[] {
  return citations.slice(0, MAX_TIES).map(({ n, start, end }) => {
    if (end - start > MAX_RANGE_CHARACTERS) return { start: end, end, source: n };
    const isMarker = !/[\p{L}\p{N}]/u.test(report.slice(start, end).replaceAll(MARKS, ""));
    return isMarker ? { start, end: start, source: n } : { start, end, source: n };
  });
}

/** Segments that are not found cost a pass over the report each. */
const MAX_MISSES = 50;
const MAX_URLS = 20;

/** Finds the segments in the report by their letters and digits: escapes, marks and line breaks may differ. */
export function supportTies(
  report: string,
  segments: readonly GroundedSegment[],
  numberOf: (url: string) => number | undefined,
): Tie[] {
  const letters = lettersOf(report);
  let [cursor, misses] = [0, 0];
  return segments.slice(0, MAX_TIES).flatMap(({ text, urls }): Tie[] => {
    const wanted = lettersOf(unescaped(text)).text;
    if (wanted === "" || misses > MAX_MISSES) return [];
    let found = letters.text.indexOf(wanted, cursor);
    if (found === -1) {
      misses += 1;
      found = letters.text.indexOf(wanted);
    }
    if (found === -1) return [];
    cursor = found;
    const [start = 0, last = 0] = [letters.indices[found], letters.indices[found + wanted.length - 1]];
    const sources = urls.slice(0, MAX_URLS).flatMap((url) => numberOf(url) ?? []);
    return sources.map((source) => ({ start, end: last + 1, source }));
  });
}

function lettersOf(text: string): { text: string; indices: number[] } {
  const indices: number[] = [];
  const kept: string[] = [];
  for (const { index, 0: word } of text.matchAll(/[\p{L}\p{N}]{1,1000}/gu)) {
    kept.push(word);
    for (let unit = 0; unit < word.length; unit += 1) indices.push(index + unit);
  }
  return { text: kept.join(""), indices };
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: " ", f: " " };

/** Undoes the escapes of a JSON string; a lone backslash of Markdown before punctuation disappears, too. */
const unescaped = (text: string): string =>
  text.includes("\\")
    ? text.replaceAll(/\\(?:u([\dA-Fa-f]{4})|([\s\S]))/g, (_whole, hex: string | undefined, character: string) =>
        hex === undefined ? (ESCAPES[character] ?? character) : String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : text;
