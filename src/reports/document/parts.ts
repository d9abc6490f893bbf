/**
 * Splits a long report into parts that are parsed one after the other, because parsing blocks the event loop. A part
 * ends before a heading if possible, else between blocks; a table or code block that has to be cut continues in the next
 * part with its header.
 */

import { linesOf } from "./lines.ts";

/** About a tenth of a second of parsing. Nearly all reports are shorter. */
const MAX_PART_CHARACTERS = 100_000;
/** Lines, cells, links and citations: a table of single digits takes ten times as long as prose. */
const MAX_PART_MARKS = 15_000;
/** Of all parts. More than that no browser shows comfortably; the rest is plain text. */
const MAX_CHARACTERS = 1_000_000;
const MAX_MARKS = 100_000;

export interface TextPart {
  text: string;
  /** The beginning of `text` that repeats lines of an earlier part. */
  repeated: string;
  /** Where the part begins in the whole text. */
  start: number;
}

export interface SplitText {
  /** At least one. */
  parts: TextPart[];
  /** What is too much to be parsed. */
  rest: string;
}

interface Boundary {
  at: number;
  repeated: string;
  /** Headings are the best boundaries, then the ends of blocks, then the ends of lines. */
  rank: number;
}

interface OpenPart {
  start: number;
  repeated: string;
  marks: number;
  /** The best boundary so far, and how many marks precede it. */
  best: (Boundary & { marks: number }) | undefined;
}

export function splitText(whole: string): SplitText {
  const parts: TextPart[] = [];
  let part: OpenPart = { start: 0, repeated: "", marks: 0, best: undefined };
  let total = 0;
  const end = (boundary: Boundary, marks: number): void => {
    parts.push({
      text: part.repeated + whole.slice(part.start, boundary.at),
      repeated: part.repeated,
      start: part.start,
    });
    total += part.marks - marks;
    part = { start: boundary.at, repeated: boundary.repeated, marks, best: undefined };
  };
  for (const line of markedLines(whole)) {
    part = withBoundary(part, line.boundary);
    const isFull = line.end - part.start > MAX_PART_CHARACTERS || part.marks + line.marks > MAX_PART_MARKS;
    if (isFull && part.best !== undefined) end(part.best, part.marks - part.best.marks);
    if (total > MAX_MARKS || line.boundary.at > MAX_CHARACTERS) return { parts, rest: whole.slice(part.start) };
    part.marks += line.marks;
  }
  end({ at: whole.length, repeated: "", rank: 0 }, 0);
  return { parts, rest: "" };
}

/** A heading in the first quarter would make the part too short. */
function withBoundary(part: OpenPart, boundary: Boundary): OpenPart {
  const { best, start } = part;
  const isEarly = best === undefined || (best.at - start < MAX_PART_CHARACTERS / 4 && best.marks < MAX_PART_MARKS / 4);
  if (boundary.at === start || (!isEarly && boundary.rank < best.rank)) return part;
  return { ...part, best: { ...boundary, marks: part.marks } };
}

interface Line {
  /** Before this line. */
  boundary: Boundary;
  end: number;
  marks: number;
}

const DELIMITER_ROW = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?\s*$/;
const MAX_HEADER_CHARACTERS = 10_000;

/** Lines longer than a part are cut, so that each piece fits. */
function* markedLines(whole: string): Generator<Line> {
  let table = "";
  let before = "";
  for (const { start: at, end, code, heading } of linesOf(whole, MAX_PART_CHARACTERS / 2)) {
    const line = whole.slice(at, end);
    const isBlockEnd = before.trim() === "" && /^\S/.test(line);
    const rank = code !== undefined || table !== "" ? 0 : heading !== undefined ? 2 : isBlockEnd ? 1 : 0;
    yield { boundary: { at, repeated: code ?? table, rank }, end, marks: marksIn(line) };
    table = tableAfter(table, before, line);
    before = line;
  }
}

/** The header of the table that the next line is in. */
function tableAfter(table: string, before: string, line: string): string {
  if (line.trim() === "") return "";
  const isShort = before.length + line.length < MAX_HEADER_CHARACTERS;
  const isHeader = isShort && before.includes("|") && line.includes("|") && DELIMITER_ROW.test(line);
  return isHeader ? before + line : table;
}

const LINE_END = 10;
const BRACKET = 91;
const BAR = 124;
const DOLLAR = 36;

function marksIn(line: string): number {
  let marks = 0;
  for (let at = 0; at < line.length; at += 1) {
    const code = line.charCodeAt(at);
    if (code === LINE_END || code === BRACKET || code === BAR || code === DOLLAR) marks += 1;
  }
  return marks;
}

/** Escaped text needs no sanitizing, which would take seconds for millions of entities. */
export const restHtml = (rest: string, escape: (text: string) => string): string =>
  rest.trim() === ""
    ? ""
    : `<p><em>This report is very long, so the rest is shown as plain Markdown.</em></p>\n<pre class="rest" tabindex="0"><code>${escape(rest)}</code></pre>\n`;
