/** Splits a report into numbered sections, so that a client with a small context can read it in parts without gaps. */

import { linesOf } from "./document/lines.ts";

export interface Section {
  /** "2", "2.1"; "0" is the text before the first section, including the report's title. */
  section: string;
  title: string;
  /** 1 at the top, regardless of the number of # signs. */
  level: number;
  start: number;
  /** Includes its subsections. */
  end: number;
}

/** A range to return in one response. */
export interface Reading {
  start: number;
  end: number;
  /** The `section` value that continues from here. */
  next: string | undefined;
}

/** A report without headings is divided into sections of this length. */
const EVEN_SECTION_CHARACTERS = 20_000;
/**
 * Where a long section may be cut. The same for every client and every call, so that `2~3` always means the same text;
 * how many such parts an answer has, depends on the client.
 */
export const PART_CHARACTERS = 10_000;
const MAX_OUTLINE_ENTRIES = 200;

/** Sections follow each other without gaps; a subsection lies within its section. */
export function sectionsOf(report: string): Section[] {
  const headings = headingsOf(report);
  const numbered = hasTitle(headings) ? headings.slice(1) : headings;
  const [first] = numbered;
  if (first === undefined) return evenSections(report);
  const before = report.slice(0, first.start).trim() !== "";
  const sections = numberSections(report, before ? numbered : [{ ...first, start: 0 }, ...numbered.slice(1)]);
  if (!before) return sections;
  const title = headings[0] === first ? "Introduction" : (headings[0]?.title ?? "");
  return [{ section: "0", title, level: 1, start: 0, end: first.start }, ...sections];
}

interface Heading {
  level: number;
  title: string;
  start: number;
}

/** A single heading above all others is the report's title; the sections are the headings below it. */
const hasTitle = (headings: Heading[]): boolean =>
  headings.length > 1 && headings.every(({ level }, index) => index === 0 || level > (headings[0]?.level ?? 0));

interface OpenSection extends Section {
  heading: number;
  children: number;
}

function numberSections(report: string, headings: Heading[]): Section[] {
  const sections: OpenSection[] = [];
  const open: OpenSection[] = [];
  let top = 0;
  for (const { level: heading, title, start } of headings) {
    while ((open.at(-1)?.heading ?? 0) >= heading) closeAt(open, start);
    const parent = open.at(-1);
    if (parent !== undefined) parent.children += 1;
    const section = parent === undefined ? String((top += 1)) : `${parent.section}.${parent.children}`;
    const entry = { section, title, level: open.length + 1, start, end: report.length, heading, children: 0 };
    sections.push(entry);
    open.push(entry);
  }
  return sections.map(({ section, title, level, start, end }) => ({ section, title, level, start, end }));
}

function closeAt(open: OpenSection[], end: number): void {
  const closed = open.pop();
  if (closed !== undefined) closed.end = end;
}

/** Headings beyond this number belong to the last section. */
const MAX_HEADINGS = 10_000;
const MAX_TITLE_CHARACTERS = 120;

function headingsOf(report: string): Heading[] {
  const headings: Heading[] = [];
  for (const { start, heading } of linesOf(report)) {
    if (heading === undefined) continue;
    // An outline cites nothing.
    const title = heading.title
      .replaceAll(/(?: ?\[\d{1,4}\])+(?=\s|$)/g, "")
      .replaceAll(/[\s*]+/g, " ")
      .trim();
    headings.push({ level: heading.level, title: title.slice(0, MAX_TITLE_CHARACTERS), start });
    if (headings.length === MAX_HEADINGS) break;
  }
  return headings;
}

function evenSections(report: string): Section[] {
  const pieces = cut(report, { start: 0, end: report.length, maxCharacters: EVEN_SECTION_CHARACTERS });
  return pieces.map((piece, index) => ({
    section: String(index + 1),
    title: `Part ${index + 1} of ${pieces.length}`,
    level: 1,
    ...piece,
  }));
}

interface Cut {
  start: number;
  end: number;
  maxCharacters: number;
}

/** Cuts after a paragraph in the second half of the part, else after a line, else after a word, else anywhere. */
function cut(report: string, { start, end, maxCharacters }: Cut): { start: number; end: number }[] {
  const pieces: { start: number; end: number }[] = [];
  let from = start;
  while (end - from > maxCharacters) {
    const window = report.slice(from, from + maxCharacters);
    const after = ["\n\n", "\n", " "].map((mark) => window.lastIndexOf(mark) + mark.length);
    const length = after.find((cutAt) => cutAt > maxCharacters / 2) ?? safeLength(window);
    pieces.push({ start: from, end: from + length });
    from += length;
  }
  return [...pieces, { start: from, end }];
}

/** Does not split a surrogate pair or a CRLF. */
const safeLength = (window: string): number => window.length - (/[\uD800-\uDBFF\r]$/.test(window) ? 1 : 0);

/**
 * Reads "2", or "2~3" for a long section from its third part on, in both cases up to the end of that section; with "+"
 * beyond it. At most `maxCharacters`, but at least a part. Undefined if there is no such section.
 */
export function readSection(
  report: string,
  sections: Section[],
  { wanted, maxCharacters }: { wanted: string; maxCharacters: number },
): Reading | undefined {
  const [, name, number = "1", on] = /^([\d.]+)(?:~(\d{1,6}))?(\+)?$/.exec(wanted) ?? [];
  const found = sections.find(({ section }) => section === name);
  const part = found && partsOf(report, found)[Number(number) - 1];
  if (found === undefined || part === undefined) return undefined;
  return read(report, sections, { found, from: part.start, isWithin: on === undefined, maxCharacters });
}

/** As much from the beginning as fits into one response. */
export function readOpening(report: string, sections: Section[], maxCharacters: number): Reading {
  const [found] = sections;
  if (found === undefined) return { start: 0, end: report.length, next: undefined };
  return read(report, sections, { found, from: 0, isWithin: false, maxCharacters });
}

const partsOf = (report: string, section: Section) => cut(report, { ...section, maxCharacters: PART_CHARACTERS });

interface Position {
  /** The section that the reading begins in. */
  found: Section;
  from: number;
  /** Not beyond the end of that section. */
  isWithin: boolean;
  maxCharacters: number;
}

function read(report: string, sections: Section[], { found, from, isWithin, maxCharacters }: Position): Reading {
  const room = Math.max(PART_CHARACTERS, maxCharacters);
  const last = isWithin ? found.end : report.length;
  if (last - from <= room) return { start: from, end: last, next: continuationAt(sections, last) };
  const until = from + room;
  // A cut between sections reads better than one within, unless it leaves half of the room empty.
  const between = isWithin ? undefined : betweenSections(sections, from, until);
  if (between !== undefined && between.end - from > room / 2) return { start: from, ...between };
  const begun = isWithin
    ? found
    : sections.find((each) => (each === found || each.start >= from) && each.start < until && each.end > until);
  const within = begun && withinSection(report, begun, { from, until, on: isWithin ? "" : "+" });
  return { start: from, ...(furthest(between, within) ?? { end: last, next: continuationAt(sections, last) }) };
}

type End = Omit<Reading, "start">;

const furthest = (one: End | undefined, other: End | undefined): End | undefined =>
  one === undefined || (other !== undefined && other.end > one.end) ? other : one;

/** The last beginning of a section, one of the first level if that takes more than half of the room. */
function betweenSections(sections: Section[], from: number, until: number): End | undefined {
  const fitting = sections.filter(({ start }) => start > from && start <= until);
  const top = fitting.findLast(({ level }) => level === 1);
  const next = top !== undefined && top.start - from > (until - from) / 2 ? top : fitting.at(-1);
  return next && { end: next.start, next: `${next.section}+` };
}

function withinSection(
  report: string,
  section: Section,
  { from, until, on }: { from: number; until: number; on: "" | "+" },
): End | undefined {
  const parts = partsOf(report, section);
  const index = parts.findLastIndex(({ start }) => start > from && start <= until);
  const part = parts[index];
  return part && { end: part.start, next: `${section.section}~${index + 1}${on}` };
}

function continuationAt(sections: Section[], start: number): string | undefined {
  const found = sections.find((section) => start > 0 && section.start === start);
  return found === undefined ? undefined : `${found.section}+`;
}

export interface OutlineEntry {
  section: string;
  title: string;
  characters: number;
}

/** As deep as the maximum length of the outline allows. */
export function outlineOf(sections: Section[]): OutlineEntry[] {
  const depths = [6, 5, 4, 3, 2, 1].map((depth) => sections.filter(({ level }) => level <= depth));
  const shown =
    depths.find(({ length }) => length <= MAX_OUTLINE_ENTRIES) ?? sections.filter(({ level }) => level === 1);
  return shown
    .slice(0, MAX_OUTLINE_ENTRIES)
    .map(({ section, title, start, end }) => ({ section, title, characters: end - start }));
}
