/** The lines of a report, and which of them are code or headings: enough to divide a report without parsing it. */

export interface ReportLine {
  start: number;
  /** Includes the line break. */
  end: number;
  /** The opening line of the code block that the line is in; the opening line itself is not. */
  code: string | undefined;
  heading: { level: number; title: string } | undefined;
}

/** Characters of a line that are examined: hostile lines have megabytes. */
const MAX_EXAMINED_CHARACTERS = 200;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/s;
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/s;

/** Longer lines are cut. */
export function* linesOf(text: string, maxCharacters = Infinity): Generator<ReportLine> {
  let open: { marks: string; line: string } | undefined;
  for (let start = 0; start < text.length;) {
    const found = text.indexOf("\n", start);
    const end = Math.min(found === -1 ? text.length : found + 1, start + maxCharacters);
    const line = text.slice(start, Math.min(end, start + MAX_EXAMINED_CHARACTERS));
    const [, marks, rest = ""] = FENCE.exec(line.trimEnd()) ?? [];
    const isClosing = open !== undefined && marks?.startsWith(open.marks) === true && rest === "";
    const isOpening = open === undefined && marks !== undefined && !(marks.startsWith("`") && rest.includes("`"));
    yield { start, end, code: open?.line, heading: open === undefined ? headingOf(line) : undefined };
    if (isClosing) open = undefined;
    else if (isOpening) open = { marks, line: end - start < MAX_EXAMINED_CHARACTERS ? line : `${marks}\n` };
    start = end;
  }
}

export function headingOf(line: string): ReportLine["heading"] {
  const [, signs, title = ""] = HEADING.exec(line.trimEnd()) ?? [];
  return signs === undefined ? undefined : { level: signs.length, title: withoutClosing(title) };
}

/** `Costs ##` is "Costs", `C#` is "C#". */
function withoutClosing(title: string): string {
  let end = title.length;
  while (title[end - 1] === "#") end -= 1;
  return end === 0 || /\s/.test(title[end - 1] ?? "") ? title.slice(0, end) : title;
}
