/** Reads the strings of a damaged JSON list, in straight or curly quotes. */

/** By the opening quote: what may close the string, and a backslash, which escapes only in straight quotes. */
const CLOSING_OR_ESCAPE: Readonly<Record<string, RegExp>> = {
  '"': /["\\]/g,
  "'": /['\\]/g,
  "“": /[“”]/g,
  "”": /[“”]/g,
  "‘": /[‘’]/g,
};
const AFTER_STRING = /\s*(?:[,\]]|$)/y;

/** In steps, because one pattern for a whole string would exceed the stack on a string of some megabytes. */
function closingQuote(raw: string, start: number): number | undefined {
  const quote = raw.charAt(start);
  const step = CLOSING_OR_ESCAPE[quote];
  if (step === undefined) return undefined;
  step.lastIndex = start + 1;
  let last: number | undefined;
  for (let match = step.exec(raw); match !== null; match = step.exec(raw)) {
    if (match[0] === "\\") {
      step.lastIndex += 1;
      continue;
    }
    last = match.index;
    AFTER_STRING.lastIndex = last + 1;
    // A single quote before anything else is an apostrophe, unless no other one follows.
    if (quote !== "'" || AFTER_STRING.test(raw)) break;
  }
  return quote === "‘" && last !== undefined && raw.charAt(last) === "‘" ? undefined : last;
}

const LIST_MARK = /["'“”‘\]{}]/g;

/** Complete strings at the top level of the list, with their escapes; a truncated URL is dropped. */
export function wholeStrings(raw: string): string[] {
  const strings: string[] = [];
  let depth = 0;
  // Quotes whose string has no end; without them, each further one would search the rest of the text again.
  const open = new Set<string>();
  LIST_MARK.lastIndex = 0;
  for (let match = LIST_MARK.exec(raw); match !== null; match = LIST_MARK.exec(raw)) {
    const [mark] = match;
    if (mark === "]") break;
    if (mark === "{" || mark === "}") depth += mark === "{" ? 1 : -1;
    else if (!open.has(mark)) {
      const end = closingQuote(raw, match.index);
      if (end === undefined) {
        // A search from ‘ ends at the next ‘, which may begin a complete string.
        if (mark !== "‘") open.add(mark);
        continue;
      }
      LIST_MARK.lastIndex = end + 1;
      if (depth === 0) strings.push(raw.slice(match.index + 1, end));
    }
  }
  return strings;
}
