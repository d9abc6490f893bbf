/** A report as numbered sections, so that a reader with little room can take it piece by piece and miss nothing. */

import { cleanText } from "../platform/clean-text.ts";

export interface Section {
  /** "2", "2.1"; "0" is what stands before the first of them, the title of the whole report included. */
  section: string;
  title: string;
  /** 1 at the top, whatever the number of # signs. */
  level: number;
  start: number;
  /** Its subsections are part of it. */
  end: number;
}

/** A piece to be returned at once. */
export interface Reading {
  start: number;
  end: number;
  /** What to ask for to read on. */
  next: string | undefined;
}

/** With its sources still below what Codex and OpenCode cut an answer at, which is about 44,000 characters. */
export const MOST_AT_ONCE = 30_000;
const PART_CHARACTERS = 20_000;
const MOST_LISTED = 200;

/** They follow each other without gaps; a subsection lies within its section. */
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

/** One heading above all others names the report; its sections are what comes below. */
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

/** A line is looked at no further: hostile ones have megabytes. */
const LOOKED_AT = 200;
/** What has more of them is no report; the rest of it belongs to the last section. */
const MOST_HEADINGS = 10_000;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/s;
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/s;

/** Headings with # signs; what stands in a code block is none. */
function headingsOf(report: string): Heading[] {
  const headings: Heading[] = [];
  let fence: string | undefined;
  for (let start = 0; start < report.length && headings.length < MOST_HEADINGS;) {
    const lineEnd = report.indexOf("\n", start);
    const end = lineEnd === -1 ? report.length : lineEnd;
    const line = report.slice(start, Math.min(end, start + LOOKED_AT)).trimEnd();
    const [, mark, rest = ""] = FENCE.exec(line) ?? [];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true && rest === "") fence = undefined;
    } else if (mark !== undefined && !(mark.startsWith("`") && rest.includes("`"))) {
      fence = mark;
    } else {
      const [, signs, text = ""] = HEADING.exec(line) ?? [];
      if (signs !== undefined) headings.push({ level: signs.length, title: titleOf(text), start });
    }
    start = end + 1;
  }
  return headings;
}

/** `## **Costs** ##` is called Costs, `## C#` is called C#. */
function titleOf(text: string): string {
  let end = text.length;
  while (text[end - 1] === "#") end -= 1;
  const closed = end === 0 || /\s/.test(text[end - 1] ?? "") ? text.slice(0, end) : text;
  return cleanText(closed)
    .replaceAll(/[\s*]+/g, " ")
    .trim()
    .slice(0, 120);
}

function evenSections(report: string): Section[] {
  const pieces = cut(report, { start: 0, end: report.length, most: PART_CHARACTERS });
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
  most: number;
}

/** After a paragraph where there is one in the second half, else after a line, else after a word, else anywhere. */
function cut(report: string, { start, end, most }: Cut): { start: number; end: number }[] {
  const pieces: { start: number; end: number }[] = [];
  let from = start;
  while (end - from > most) {
    const window = report.slice(from, from + most);
    const after = ["\n\n", "\n", " "].map((mark) => window.lastIndexOf(mark) + mark.length);
    const length = after.find((place) => place > most / 2) ?? whole(window);
    pieces.push({ start: from, end: from + length });
    from += length;
  }
  return [...pieces, { start: from, end }];
}

/** Not between the halves of one character or of one line end. */
const whole = (window: string): number => window.length - (/[\uD800-\uDBFF\r]$/.test(window) ? 1 : 0);

/**
 * "2", or "2~3" for the third part of a section too long to be read at once; "2+" is what fits into one answer from
 * there on. Undefined when there is none such.
 */
export function readSection(report: string, sections: Section[], wanted: string): Reading | undefined {
  const [, name, number = "1", on] = /^([\d.]+)(?:~(\d{1,6})|(\+))?$/.exec(wanted) ?? [];
  const found = sections.find(({ section }) => section === name);
  if (found === undefined) return undefined;
  return on === undefined ? readPart(report, sections, found, Number(number)) : readFrom(report, sections, found);
}

/** The whole sections at the beginning that fit into one answer. */
export function readOpening(report: string, sections: Section[]): Reading {
  const [first] = sections;
  return first === undefined ? { start: 0, end: report.length, next: undefined } : readFrom(report, sections, first);
}

function readPart(report: string, sections: Section[], found: Section, number: number): Reading | undefined {
  const pieces = cut(report, { ...found, most: MOST_AT_ONCE });
  const piece = pieces[number - 1];
  if (piece === undefined) return undefined;
  const next = number < pieces.length ? `${found.section}~${number + 1}` : onFrom(sections, piece.end);
  return { ...piece, next };
}

function readFrom(report: string, sections: Section[], first: Section): Reading {
  const { start } = first;
  if (report.length - start <= MOST_AT_ONCE) return { start, end: report.length, next: undefined };
  const fitting = sections.filter((section) => section.start > start && section.start <= start + MOST_AT_ONCE);
  const top = fitting.findLast(({ level }) => level === 1)?.start ?? start;
  // Where the next section is far too long, its first subsections are better than nothing of it.
  const end = top - start > MOST_AT_ONCE / 2 ? top : (fitting.at(-1)?.start ?? start);
  const little = end - start <= MOST_AT_ONCE / 2 && first.end > end;
  const part = little ? readPart(report, sections, first, 1) : undefined;
  return part ?? { start, end, next: onFrom(sections, end) };
}

function onFrom(sections: Section[], start: number): string | undefined {
  const found = sections.find((section) => start > 0 && section.start === start);
  return found === undefined ? undefined : `${found.section}+`;
}

export interface OutlineEntry {
  section: string;
  title: string;
  characters: number;
}

/** As deep as a list of bearable length allows. */
export function outlineOf(sections: Section[]): OutlineEntry[] {
  const depths = [6, 5, 4, 3, 2, 1].map((depth) => sections.filter(({ level }) => level <= depth));
  const shown = depths.find(({ length }) => length <= MOST_LISTED) ?? sections.filter(({ level }) => level === 1);
  return shown
    .slice(0, MOST_LISTED)
    .map(({ section, title, start, end }) => ({ section, title, characters: end - start }));
}
