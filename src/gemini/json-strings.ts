/** Where a string of JSON ends. */

const STRING_END = /["\\]/g;

/** The position of the closing quote of a string whose content begins at `from`; undefined without one. */
export function closingQuote(text: string, from: number): number | undefined {
  STRING_END.lastIndex = from;
  for (let match = STRING_END.exec(text); match !== null; match = STRING_END.exec(text)) {
    if (match[0] === '"') return match.index;
    STRING_END.lastIndex = match.index + 2;
  }
  return undefined;
}
