/**
 * Neutralizes a report for use inside a document: nothing in it loads when the file is opened, and nothing in it
 * affects text after its end. Where viewers disagree about what is code, it is treated as text.
 */

import { markAt } from "../citations.ts";

interface Fence {
  /** The fence character, which the closing fence shares. */
  mark: string;
  length: number;
  /** Indentation of the fence, removed from its lines as well. */
  indent: number;
}

/** What is written instead of a part of a line, and where that part ends. */
export interface Piece {
  text: string;
  end: number;
}

/** Replaces the citation mark at a bracket outside code, if there is one. */
export type RewriteMark = (line: string, at: number) => Piece | undefined;

export function neutralMarkdown(text: string, rewriteMark: RewriteMark = () => undefined): string {
  const written: string[] = [];
  let block: string[] = [];
  let fence: Fence | undefined;
  const endBlock = (): void => {
    for (const line of neutralBlock(block, rewriteMark)) written.push(line);
    block = [];
  };
  for (const line of text.split("\n")) {
    const opening = fence === undefined ? openingFence(line) : null;
    if (fence !== undefined) {
      const code = dedented(line, fence.indent);
      if (closes(code, fence)) fence = undefined;
      written.push(code);
    } else if (opening) {
      endBlock();
      // Some viewers take a fence below an unfinished definition for its address.
      if (/\]:\s*$/.test(written.at(-1) ?? "")) written.push("");
      const [, indent = "", marks = "", language = ""] = opening;
      fence = { mark: marks.charAt(0), length: marks.length, indent: indent.length };
      written.push(marks + language);
    } else if (line.trim() === "") {
      endBlock();
      written.push(line);
    } else block.push(line);
  }
  endBlock();
  if (fence !== undefined) written.push(fence.mark.repeat(fence.length));
  return written.join("\n");
}

/**
 * A fence is written at the margin, outside its list item, because only there its end is certain, and with its language
 * only, because a `|` could turn it into a table head. Deeper fences are treated as text.
 */
const OPENING_FENCE = /^( {0,3}(?:(?:[-+*]|\d{1,9}[.)]) {1,4}){0,1000})(`{3,}(?=[^`]*$)|~{3,})[ \t]*([\w+#.-]*)/;

/** A cheap check that most lines fail. */
const openingFence = (line: string): RegExpExecArray | null =>
  line.includes("```") || line.includes("~~~") ? OPENING_FENCE.exec(line) : null;

function dedented(line: string, indent: number): string {
  let spaces = 0;
  while (spaces < indent && line[spaces] === " ") spaces += 1;
  return line.slice(spaces);
}

function closes(line: string, { mark, length }: Fence): boolean {
  const marks = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return marks !== undefined && marks.startsWith(mark) && marks.length >= length;
}

/**
 * Inline code is kept only if the backticks of every line in the block pair up; otherwise the block is treated as text.
 */
function neutralBlock(lines: string[], rewriteMark: RewriteMark): string[] {
  const withCode: string[] = [];
  for (const line of lines) {
    const neutral = neutralLine(line, { keepsCode: true, rewriteMark });
    if (neutral === undefined) return lines.map((each) => neutralLine(each, { keepsCode: false, rewriteMark }) ?? "");
    withCode.push(neutral);
  }
  return withCode;
}

/**
 * Inline code ends at the same number of backticks on the same line. A `|` in it makes it uncertain, because a table
 * cell ends there.
 */
function codeEnd(line: string, start: number): number | undefined {
  const length = runEnd(line, start) - start;
  for (let at = line.indexOf("`", start + length); at !== -1;) {
    const end = runEnd(line, at);
    if (end - at === length) return line.slice(start, at).includes("|") ? undefined : end;
    at = line.indexOf("`", end);
  }
  return undefined;
}

function runEnd(line: string, at: number): number {
  let end = at;
  while (line[end] === "`") end += 1;
  return end;
}

/** Length of the quote, bullet and number prefixes of a line. Bounded: millions of them would exceed the stack. */
const prefixOf = (line: string): number =>
  /^(?:[ \t>]|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])){0,10000}/.exec(line)?.[0].length ?? 0;

const kept = (line: string, from: number, end: number): Piece => ({ text: line.slice(from, end), end });

/** What may start an escape, code, markup, an image, a citation mark or a bare address. */
const MARK = /[\\`]|<(?=[a-z/!?])|!(?=\[)|\[(?=cite:|[ \t]*\d)|https?:\/\/|www\./gi;
const ADDRESS = /[^\s<]*/y;

interface LineReading {
  /** Then a backtick that is not certain to begin code makes the line undefined; otherwise it is text. */
  keepsCode: boolean;
  rewriteMark: RewriteMark;
}

function neutralLine(line: string, { keepsCode, rewriteMark }: LineReading): string | undefined {
  let contentStart: number | undefined;
  let addressEnd = 0;
  let text = "";
  let copied = 0;
  for (let at = nextMark(line, 0); at !== -1; at = nextMark(line, copied)) {
    let piece: Piece | undefined;
    if (line[at] === "`") {
      // Viewers that link bare addresses take a backtick for a part of one.
      const isCode = keepsCode && at >= addressEnd;
      const end = isCode ? codeEnd(line, at) : keepsCode ? undefined : runEnd(line, at);
      if (end === undefined) return undefined;
      piece = kept(line, at, end);
    } else if (line[at] === "<") {
      contentStart ??= prefixOf(line);
      piece = tagAt(line, at, contentStart);
    } else if (line[at] === "!") piece = imageAt(line, at);
    else if (line[at] === "\\") piece = escapeAt(line, at);
    else if (line[at] === "[") piece = rewriteMark(line, at);
    else if (at >= addressEnd) {
      ADDRESS.lastIndex = at;
      addressEnd = at + (ADDRESS.exec(line)?.[0].length ?? 0);
    }
    piece ??= kept(line, at, at + 1);
    text += line.slice(copied, at) + piece.text;
    copied = piece.end;
  }
  return text + line.slice(copied);
}

function nextMark(line: string, from: number): number {
  MARK.lastIndex = from;
  return MARK.exec(line)?.index ?? -1;
}

/** In the same viewers a backslash at the end of an address escapes nothing. */
const escapeAt = (line: string, at: number): Piece =>
  line[at + 1] === "<" ? { text: "&lt;", end: at + 2 } : kept(line, at, at + 2);

/**
 * Turns an image into a link. After another `!` its own is kept, escaped; otherwise the other would make it an image
 * again.
 */
function imageAt(line: string, at: number): Piece {
  // The end of a sentence before a citation, which is no image.
  if (markAt(line, at + 1)?.isGoogleMark === true) return { text: "\\!", end: at + 1 };
  const before = line[at - 1] === "!" ? "\\!" : "";
  if (line.startsWith("![]", at)) return { text: `${before}[image]`, end: at + 3 };
  return { text: `${before}[`, end: at + 2 };
}

/** Without brackets: where a viewer sees no link in it, `![` would load. */
const AUTOLINK = /<(?:https?|mailto):[^\s<>`\\[]*>/iy;
/** Tags without attributes and without effect beyond their paragraph. */
const HARMLESS_TAG = /<\/?(?:br|sup|sub|kbd)[ \t]*\/?>/iy;

/** Raw HTML is escaped: it could load, hide or style other content. */
function tagAt(line: string, at: number, contentStart: number): Piece {
  const matched = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(line)?.[0];
  };
  // At the start of a block even a harmless tag would turn the following lines into raw HTML.
  const keep = matched(AUTOLINK) ?? (at > contentStart ? matched(HARMLESS_TAG) : undefined);
  return keep === undefined ? { text: "&lt;", end: at + 1 } : kept(line, at, at + keep.length);
}
