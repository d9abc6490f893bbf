/** Rewrites the prose of a Markdown text and leaves its code unchanged; what may be code counts as code. */

/** Calls `rewrite` with parts of single lines, in linear time. */
export function outsideCode(text: string, rewrite: (prose: string) => string): string {
  const lines = text.split("\n");
  const isCode = codeLines(lines, text.includes("```") || text.includes("~~~"));
  for (let at = 0; at < lines.length; at += 1) {
    if (isCode[at] === true || isBlank(lines[at])) continue;
    let end = at + 1;
    while (end < lines.length && isCode[end] !== true && !isBlank(lines[end])) end += 1;
    for (const [index, line] of rewriteBlock(lines.slice(at, end), rewrite).entries()) lines[at + index] = line;
    at = end - 1;
  }
  return lines.join("\n");
}

const isBlank = (line: string | undefined): boolean => line === undefined || !/\S/.test(line);

/** Code may continue in the next line, so a block with a line of unpaired backticks is left unchanged. */
function rewriteBlock(lines: string[], rewrite: (prose: string) => string): string[] {
  const written: string[] = [];
  for (const line of lines) {
    const pieces = piecesOf(line);
    if (pieces === undefined) return lines;
    written.push(pieces.map((piece, index) => (index % 2 === 0 ? rewrite(piece) : piece)).join(""));
  }
  return written;
}

/** Prose and code alternating; undefined if they cannot be distinguished. */
function piecesOf(line: string): string[] | undefined {
  if (!line.includes("`")) return [line];
  if (line.includes("\\`")) return undefined;
  const pieces: string[] = [];
  let copied = 0;
  for (let start = line.indexOf("`"); start !== -1; start = line.indexOf("`", copied)) {
    const end = codeEnd(line, start);
    if (end === undefined) return undefined;
    pieces.push(line.slice(copied, start), line.slice(start, end));
    copied = end;
  }
  pieces.push(line.slice(copied));
  return pieces;
}

/**
 * Inline code ends at the same number of backticks on the same line. A `|` in it makes it uncertain, because a table
 * cell ends there.
 */
export function codeEnd(line: string, start: number): number | undefined {
  const length = runEnd(line, start) - start;
  for (let at = line.indexOf("`", start + length); at !== -1;) {
    const end = runEnd(line, at);
    if (end - at === length) return line.slice(start, at).includes("|") ? undefined : end;
    at = line.indexOf("`", end);
  }
  return undefined;
}

export function runEnd(line: string, at: number): number {
  let end = at;
  while (line[end] === "`") end += 1;
  return end;
}

/** Fences at the margin, fences in lists and quotes, and indented lines are detected independently. */
function codeLines(lines: readonly string[], hasFences: boolean): boolean[] {
  const indented = indentedLines(lines);
  if (!hasFences) return indented;
  const atMargin = fencedLines(lines, (line) => (/^ {0,3}(?! )/.test(line) ? line : ""));
  const nested = fencedLines(lines, (line) => line.slice(prefixOf(line)));
  return indented.map((isIndented, at) => isIndented || atMargin[at] === true || nested[at] === true);
}

/** Length of the quote, bullet and number prefixes of a line. Bounded: millions of them would exceed the stack. */
export const prefixOf = (line: string): number =>
  /^(?:[ \t>]|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])){0,10000}/.exec(line)?.[0].length ?? 0;

function fencedLines(lines: readonly string[], contentOf: (line: string) => string): boolean[] {
  let fence: string | undefined;
  return lines.map((line) => {
    if (fence === undefined && !line.includes("```") && !line.includes("~~~")) return false;
    const content = contentOf(line).trim();
    const marks = /^(?:`{3,}|~{3,})/.exec(content)?.[0];
    if (fence !== undefined) {
      if (marks === content && marks.startsWith(fence)) fence = undefined;
      return true;
    }
    if (marks === undefined || (marks.startsWith("`") && content.includes("`", marks.length))) return false;
    fence = marks;
    return true;
  });
}

const LIST_ITEM = /^([ \t]*)([-+*]|\d{1,9}[.)])([ \t]+)/;
const CODE_INDENT = 4;

/** Lines indented by four columns more than their container, unless they continue a paragraph. */
function indentedLines(lines: readonly string[]): boolean[] {
  const nesting: number[] = [];
  let mayBegin = true;
  return lines.map((quoted) => {
    const line = /^ {0,3}>/.test(quoted) ? quoted.replace(/^(?: {0,3}> ?){1,10000}/, "") : quoted;
    if (isBlank(line)) {
      mayBegin = true;
      return false;
    }
    const indent = /^[ \t]/.test(line) ? columns(/^[ \t]*/.exec(line)?.[0] ?? "") : 0;
    while (nesting.length > 0 && indent < (nesting.at(-1) ?? 0)) nesting.pop();
    if (mayBegin && indent >= (nesting.at(-1) ?? 0) + CODE_INDENT) return true;
    mayBegin = false;
    const [prefix, , mark = "", gap = ""] = LIST_ITEM.exec(line) ?? [];
    if (prefix === undefined) return false;
    const start = indent + mark.length;
    const isWide = columns(prefix) - start > CODE_INDENT;
    nesting.push(isWide ? start + 1 : columns(prefix));
    return isWide && gap !== "";
  });
}

function columns(prefix: string): number {
  let column = 0;
  for (const character of prefix) column += character === "\t" ? CODE_INDENT - (column % CODE_INDENT) : 1;
  return column;
}
