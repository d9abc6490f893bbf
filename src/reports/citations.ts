/**
 * Citations as Google writes them. A report of its agent cites in two ways at once: by marks in the text,
 * `[cite: 1, 2]`, whose numbers a list at the report's end explains, and by ranges of the text, each with its source.
 * The list may be missing (a report that was cut off), and so may the marks (a range without one). Sources are numbered
 * as the report numbers them, so that its text is stored unchanged.
 */

import { pageKey } from "./web-address.ts";
import type { Source } from "./report.ts";

/** A range of the report that source `n` supports, in UTF-16 units, end exclusive. */
export interface CitedRange {
  n: number;
  start: number;
  end: number;
}

export interface CitationPosition {
  /** Characters before the citation. */
  at: number;
  n: number;
}

export interface CitedText {
  report: string;
  sources: readonly Source[];
  citations?: readonly CitedRange[] | undefined;
}

/** A mark in the text: `[cite: 1, 2]` or `[1]`. */
export interface CitationMark {
  start: number;
  end: number;
  isGoogleMark: boolean;
  numbers: number[];
}

/** As a pattern, with at most 50 numbers. */
export const MARK = String.raw`\[(cite:[ \t]*)?(\d{1,4}(?:[ \t]*,[ \t]*\d{1,4}){0,49})\]`;
const MARK_HERE = new RegExp(MARK, "iy");

/** Also where it is part of a link or of code. */
export const marksIn = (text: string): CitationMark[] =>
  [...text.matchAll(new RegExp(MARK, "gi"))].map((match) => readMark(match));

/** The mark that begins here, as a reader sees it: neither `[1](address)` nor `array[1]`. */
export function markAt(text: string, at: number): CitationMark | undefined {
  MARK_HERE.lastIndex = at;
  const match = MARK_HERE.exec(text);
  if (match === null) return undefined;
  const mark = readMark(match);
  const isIndex = !mark.isGoogleMark && /\w/.test(text[at - 1] ?? "");
  return isIndex || text[mark.end] === "(" ? undefined : mark;
}

const readMark = ({ index, 0: text, 1: google, 2: list = "" }: RegExpExecArray): CitationMark => ({
  start: index,
  end: index + text.length,
  isGoogleMark: google !== undefined,
  numbers: [...new Set(list.split(",").map(Number))],
});

/** A number at the start of a line and before a colon would define a link. */
export const wouldDefine = (text: string, { start, end }: Pick<CitationMark, "start" | "end">): boolean =>
  text[end] === ":" && /^[ \t]{0,3}$/.test(text.slice(text.lastIndexOf("\n", start - 1) + 1, start));

/** Google's mark before a cited text, which no reader needs. */
export const START_MARK = /\[cite_start\]/gi;

export const withoutStartMarks = (text: string): string =>
  text.includes("[") ? text.replaceAll(START_MARK, "") : text;

interface RangedMark extends CitationMark {
  /** Source numbers of the ranges that end at this mark. */
  cited: Set<number>;
}

const rangedMarks = (text: string): RangedMark[] => marksIn(text).map((mark) => ({ ...mark, cited: new Set() }));

/** A mark of Google whose sources are known from the ranges that end at it. */
interface PlacedMark {
  start: number;
  end: number;
  sources: number[];
}

export interface PlacedCitations {
  /** Their numbers refer to Google's list, which a report that was cut off no longer has. */
  marks: readonly PlacedMark[];
  /** Citations that are not written in the text, ascending. */
  positions: readonly CitationPosition[];
}

export function placeCitations(text: string, citations: readonly CitedRange[]): PlacedCitations {
  if (citations.length === 0) return { marks: [], positions: [] };
  const marks = rangedMarks(text);
  const positions = attach(marks, text, citations);
  const isPlaced = ({ isGoogleMark, numbers, cited }: RangedMark): boolean =>
    isGoogleMark && cited.size >= numbers.length;
  for (const mark of marks.filter((each) => !isPlaced(each))) {
    const missing = [...mark.cited].filter((n) => !mark.numbers.includes(n));
    positions.push(...missing.map((n) => ({ at: mark.end, n })));
  }
  return {
    marks: marks.filter(isPlaced).map(({ start, end, cited }) => ({ start, end, sources: [...cited] })),
    positions: positions.toSorted((a, b) => a.at - b.at),
  };
}

/** Adds each range to the mark at its end, and returns the ranges without a mark. */
function attach(marks: readonly RangedMark[], text: string, citations: readonly CitedRange[]): CitationPosition[] {
  const loose = new Map<number, Set<number>>();
  let next = 0;
  for (const { n, end } of citations.toSorted((a, b) => a.end - b.end)) {
    while ((marks[next]?.end ?? Infinity) < end) next += 1;
    const mark = marks[next];
    if (mark !== undefined && mark.start <= end + spacesAt(text, end)) mark.cited.add(n);
    else loose.set(end, (loose.get(end) ?? new Set()).add(n));
  }
  return [...loose].flatMap(([at, numbers]) => [...numbers].map((n) => ({ at, n })));
}

const MAX_SPACES = 3;

function spacesAt(text: string, at: number): number {
  let count = 0;
  while (count < MAX_SPACES && text[at + count] === " ") count += 1;
  return count;
}

/** Writes the sources of the ranges into the text as `[cite: 1]`, for a reader that sees the text only. */
export function withCitationMarks({ report, citations = [] }: Omit<CitedText, "sources">): string {
  const { marks, positions } = placeCitations(report, citations);
  const markOf = (numbers: readonly number[]): string => `[cite: ${[...new Set(numbers)].join(", ")}]`;
  const loose = new Map<number, number[]>();
  for (const { at, n } of positions) loose.set(at, [...(loose.get(at) ?? []), n]);
  const written = [
    ...marks.map(({ start, end, sources }) => ({ start, end, mark: markOf(sources) })),
    ...[...loose].map(([at, numbers]) => ({ start: at, end: at, mark: ` ${markOf(numbers)}` })),
  ].toSorted((a, b) => a.start - b.start);
  let text = "";
  let copied = 0;
  for (const { start, end, mark } of written) {
    text += report.slice(copied, start) + mark;
    copied = end;
  }
  return text + report.slice(copied);
}

/** Maps a number in the text to a source number; an unresolved number has no entry. */
export interface CitationNumbers {
  /** For `[cite: 1]`. */
  google: ReadonlyMap<number, number>;
  /** For `[1]`, unless the report defines it as a link: `[1]: url`. */
  plain: ReadonlyMap<number, number>;
}

/** From the report's own list or from the ranges. */
export function resolveCitationNumbers({ report, sources, citations = [] }: CitedText): CitationNumbers {
  const byPage = new Map(sources.map(({ n, url }) => [pageKey(url), n]));
  const listed = dropAmbiguousNumbers(listedSources(report));
  const plain = new Map<number, number>();
  for (const { n, url } of listed) {
    const meant = byPage.get(pageKey(url));
    if (meant !== undefined) plain.set(n, meant);
  }
  const google = new Map(inferCitationNumbers(report, citations));
  for (const { n } of listed) google.delete(n);
  for (const [n, meant] of plain) google.set(n, meant);
  return { google, plain };
}

/** Numbers still ambiguous after these rounds of elimination are resolved by their order. */
const MAX_ELIMINATIONS = 5;

/**
 * Infers numbers for a report that was cut off before its source list. Google sends one range for each number of a mark,
 * so the page common to all marks with a number is that number's page. Numbers on which marks disagree are left out.
 */
export function inferCitationNumbers(report: string, citations: readonly CitedRange[]): Map<number, number> {
  if (citations.length === 0) return new Map();
  const all = rangedMarks(report);
  attach(all, report, citations);
  const google = all.filter(({ isGoogleMark }) => isGoogleMark);
  const marks = google
    .filter(({ numbers, cited }) => numbers.length === cited.size)
    .map(({ numbers, cited }) => ({ numbers, pages: [...cited], cited }));
  // Within a complete mark the order of its numbers does not matter; in other marks it does.
  const elsewhere = new Set(
    google.filter(({ numbers, cited }) => numbers.length !== cited.size).flatMap(({ numbers }) => numbers),
  );
  const candidates = new Map<number, Set<number>>();
  for (const { numbers, cited } of marks) {
    for (const n of numbers) {
      const before = candidates.get(n) ?? cited;
      candidates.set(n, new Set([...before].filter((page) => cited.has(page))));
    }
  }
  for (let round = 0; round < MAX_ELIMINATIONS; round += 1) {
    if (!marks.some(({ numbers }) => eliminate(numbers, candidates))) break;
  }
  const meant = new Map<number, number>();
  for (const { numbers, pages } of marks) {
    for (const [index, n] of numbers.entries()) {
      const possible = candidates.get(n) ?? new Set();
      const page = possible.size === 1 ? [...possible][0] : elsewhere.has(n) ? undefined : pages[index];
      if (page !== undefined && possible.has(page) && !meant.has(n)) meant.set(n, page);
    }
  }
  const wrong = marks.filter(({ numbers, cited }) => {
    const pages = new Set(numbers.map((n) => meant.get(n)));
    return [...cited].some((page) => !pages.has(page));
  });
  for (const { numbers } of wrong) for (const n of numbers) if (candidates.get(n)?.size !== 1) meant.delete(n);
  return meant;
}

/** Two numbers of one mark are two pages. Returns whether a candidate was removed. */
function eliminate(numbers: readonly number[], candidates: ReadonlyMap<number, Set<number>>): boolean {
  let hasRemoved = false;
  for (const n of numbers) {
    const possible = candidates.get(n);
    const [only] = possible?.size === 1 ? possible : [];
    if (only === undefined) continue;
    for (const other of numbers) if (other !== n && candidates.get(other)?.delete(only) === true) hasRemoved = true;
  }
  return hasRemoved;
}

/** `3. [domain](url)`: the agent's own numbers, as used by its `[cite: 3]` marks. */
const LISTED_SOURCE = /^[ \t]*(\d{1,4})\.[ \t]+\[([^\]\n]*)\]\((https?:\/\/[^)\s]+)\)[ \t\r]*$/;
const LIST_TITLE =
  /^[#*_ \t]*(?:\d{1,2}[.)][ \t]*)?(?:sources(?: cited)?|references|works cited|bibliography|citations|quellen(?:verzeichnis|angaben)?|literatur(?:verzeichnis)?|einzelnachweise|références|bibliographie|参考文献|引用文献|出典|情報源|参考資料)[:：*_ \t\r]*$/i;

const MAX_TITLE_CHARACTERS = 100;

export const isSourceListTitle = (line: string): boolean =>
  line.length <= MAX_TITLE_CHARACTERS && LIST_TITLE.test(line);

export interface ListedSource {
  n: number;
  title: string;
  url: string;
}

function entryOf(line: string): ListedSource | undefined {
  // A cheap check that most lines fail.
  if (!line.includes("](http")) return undefined;
  const [, n, title = "", url = ""] = LISTED_SOURCE.exec(line) ?? [];
  return n === undefined ? undefined : { n: Number(n), title, url };
}

/**
 * Starts at the source list's heading if there is exactly one, because numbered links before it are part of the report.
 */
export function listedSources(report: string): ListedSource[] {
  const lines = report.split("\n");
  const titles = lines.flatMap((line, index) => (isSourceListTitle(line) ? [index] : []));
  const first = titles.length === 1 ? (titles[0] ?? 0) : 0;
  return lines.slice(first).flatMap((line) => entryOf(line) ?? []);
}

/** Drops numbers that are listed for more than one page. */
export function dropAmbiguousNumbers(listed: readonly ListedSource[]): ListedSource[] {
  const pages = new Map<number, Set<string>>();
  for (const { n, url } of listed) pages.set(n, (pages.get(n) ?? new Set()).add(pageKey(url)));
  return listed.filter(({ n }) => pages.get(n)?.size === 1);
}

/**
 * Removes the closing list if all of its pages are among `sources`. Numbered links stay if no heading and no mark
 * identifies them as sources.
 */
export function removeSourceList(report: string, sources: readonly Source[]): string {
  const known = new Set(sources.map(({ url }) => pageKey(url)));
  const lines = report.trimEnd().split("\n");
  const numbers = new Set<number>();
  let end = lines.length;
  for (; end > 0; end -= 1) {
    const line = lines[end - 1] ?? "";
    const entry = entryOf(line);
    if (entry !== undefined && known.has(pageKey(entry.url))) numbers.add(entry.n);
    else if (line.trim() !== "" || end === lines.length) break;
  }
  if (numbers.size === 0) return report;
  const hasTitle = isSourceListTitle(lines[end - 1] ?? "");
  const body = lines.slice(0, hasTitle ? end - 1 : end).join("\n");
  return hasTitle || citesAny(body, numbers) ? body : report;
}

const citesAny = (body: string, numbers: ReadonlySet<number>): boolean =>
  marksIn(body).some((mark) => mark.numbers.some((n) => numbers.has(n)));
