/** Reads the strings of a damaged JSON list: in straight or curly quotes, and addresses without any. */

/** By the opening quote: what may close the string, and a backslash, which escapes only in straight quotes. */
const CLOSING_OR_ESCAPE: Readonly<Record<string, RegExp>> = {
  '"': /["\\]/g,
  "'": /['\\]/g,
  "“": /[“”]/g,
  "”": /[“”]/g,
  "‘": /[‘’]/g,
};
/** A quote before anything else is part of the text: an apostrophe, or a quote that was not escaped. */
const AFTER_STRING = /\s*(?:[,\]]|$)|\s+["']/y;

/**
 * Where the string that starts here ends. `lenient`: the opening quotes whose string has no certain end; without them,
 * each further string would search the rest of the text again.
 */
function closingQuote(raw: string, start: number, lenient: Set<string>): number | undefined {
  const quote = raw.charAt(start);
  const step = CLOSING_OR_ESCAPE[quote];
  if (step === undefined) return undefined;
  const isStraight = quote === '"' || quote === "'";
  let first: number | undefined;
  // In steps, because one pattern for a whole string would exceed the stack on a string of some megabytes.
  step.lastIndex = start + 1;
  for (let match = step.exec(raw); match !== null; match = step.exec(raw)) {
    if (match[0] === "\\") {
      step.lastIndex += 1;
      continue;
    }
    first ??= match.index;
    AFTER_STRING.lastIndex = match.index + 1;
    if (!isStraight || lenient.has(quote)) break;
    if (AFTER_STRING.test(raw)) return match.index;
  }
  if (isStraight) lenient.add(quote);
  return quote === "‘" && first !== undefined && raw.charAt(first) === "‘" ? undefined : first;
}

const LIST_MARK = /["'“”‘\]{}]|(?<=[[,\s])https?:\/\/[^\s,\]}"'“”‘]+(?=[,\s\]])/g;

/** Complete strings at the top level of the list, with their escapes; a truncated URL is dropped. */
export function wholeStrings(raw: string): string[] {
  const strings: string[] = [];
  let depth = 0;
  // Quotes whose string has no end; without them, each further one would search the rest of the text again.
  const open = new Set<string>();
  const lenient = new Set<string>();
  LIST_MARK.lastIndex = 0;
  for (let match = LIST_MARK.exec(raw); match !== null; match = LIST_MARK.exec(raw)) {
    const [mark] = match;
    if (mark === "]") break;
    if (mark === "{" || mark === "}") depth += mark === "{" ? 1 : -1;
    else if (mark.length > 1) strings.push(mark);
    else if (!open.has(mark)) {
      const end = closingQuote(raw, match.index, lenient);
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
