/**
 * Neutralizes a report for use inside a document: nothing in it loads when the file is opened, and nothing in it
 * affects text after its end. Where viewers disagree about what is code, it is treated as text.
 */

interface Fence {
  /** The fence character, which the closing fence shares. */
  mark: string;
  length: number;
  /** Indentation of the fence, removed from its lines as well. */
  indent: number;
}

/** `rewrite` changes the prose of a line, which is everything outside code and addresses. */
export function neutralMarkdown(text: string, rewrite = (prose: string): string => prose): string {
  const written: string[] = [];
  let block: string[] = [];
  let fence: Fence | undefined;
  const endBlock = (): void => {
    for (const line of neutralBlock(block, rewrite)) written.push(line);
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
function neutralBlock(lines: string[], rewrite: (prose: string) => string): string[] {
  const withCode: string[] = [];
  for (const line of lines) {
    const neutral = neutralLine(line, { endOf: codeEnd, rewrite });
    if (neutral === undefined) return lines.map((each) => neutralLine(each, { endOf: runEnd, rewrite }) ?? "");
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

interface Piece {
  text: string;
  end: number;
}

const kept = (line: string, from: number, end: number): Piece => ({ text: line.slice(from, end), end });

/** Characters that may start an escape, code, markup or an image. */
const MARK = /[\\`]|<(?=[a-z/!?])|!(?=\[)/gi;

interface LineReading {
  /** The end of what a backtick starts; undefined makes the line undefined. */
  endOf: (line: string, at: number) => number | undefined;
  rewrite: (prose: string) => string;
}

function neutralLine(line: string, { endOf, rewrite }: LineReading): string | undefined {
  let contentStart: number | undefined;
  let text = "";
  let copied = 0;
  for (let at = nextMark(line, 0); at !== -1; at = nextMark(line, copied)) {
    let piece: Piece;
    if (line[at] === "`") {
      const end = endOf(line, at);
      if (end === undefined) return undefined;
      piece = kept(line, at, end);
    } else if (line[at] === "<") {
      contentStart ??= prefixOf(line);
      piece = tagAt(line, at, contentStart);
    } else piece = line[at] === "!" ? imageAt(line, at) : kept(line, at, at + 2);
    text += rewrite(line.slice(copied, at)) + piece.text;
    copied = piece.end;
  }
  return text + rewrite(line.slice(copied));
}

function nextMark(line: string, from: number): number {
  MARK.lastIndex = from;
  return MARK.exec(line)?.index ?? -1;
}

/**
 * Turns an image into a link. After another `!` its own is kept, escaped; otherwise the other would make it an image
 * again.
 */
function imageAt(line: string, at: number): Piece {
  // The end of a sentence before a citation, which is no image.
  if (/^!\[cite:/i.test(line.slice(at, at + 7))) return { text: "\\!", end: at + 1 };
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
