/** Repairs damaged JSON, unless that could block the process: stray quotes make the library's time grow cubically. */

import { jsonrepair } from "jsonrepair";
import { closingQuote } from "./json-strings.ts";

/** Less than half a second, for all texts together; measured with quotes and brackets in the worst places. */
const MAX_WORK = 4e9;

/** An escape is one mark, so that no string is searched from inside it. */
const MARK = /\\[^]|["'`´‘’“”„[{}\]]|&quot;/g;
const AFTER_STRING = /\s{0,100}[:,}\]]/y;

/** The returned function throws if a text cannot be repaired, or not within the time for all texts given to it. */
export function createJsonRepair(): (text: string) => string {
  let left = MAX_WORK;
  return (text) => {
    const work = text.length * (text.length + marksIn(text) ** 2);
    if (work > left) throw new RangeError("The text is too long or too damaged to be repaired.");
    left -= work;
    return jsonrepair(text);
  };
}

/** Quotes that may be tried as the end of every string before them, and the depth of nesting. Whole strings are free. */
function marksIn(text: string): number {
  let stray = 0;
  let depth = 0;
  let deepest = 0;
  // Once a search has found no closing quote, later ones would only scan the same text again.
  let hasEnd = true;
  MARK.lastIndex = 0;
  for (let match = MARK.exec(text); match !== null; match = MARK.exec(text)) {
    const [mark] = match;
    if (mark === "[" || mark === "{") deepest = Math.max(deepest, (depth += 1));
    else if (mark === "]" || mark === "}") depth = Math.max(0, depth - 1);
    else if (mark.startsWith("\\")) stray += mark === '\\"' ? 1 : 0;
    else {
      const end = mark === '"' && hasEnd ? closingQuote(text, match.index + 1) : undefined;
      if (mark === '"' && end === undefined) hasEnd = false;
      AFTER_STRING.lastIndex = (end ?? 0) + 1;
      if (end !== undefined && AFTER_STRING.test(text)) MARK.lastIndex = end + 1;
      else stray += 1;
    }
  }
  return stray + deepest;
}
