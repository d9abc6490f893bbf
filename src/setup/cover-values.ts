/** Masks the values in a settings file so that it can be shown without secrets of other servers. */

/** Strings of both formats, including multi-line ones, and comments, which may contain an old entry. */
const STRING_OR_COMMENT =
  /"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"?|'[^'\r\n]*'?|\/\*[^]*?(?:\*\/|$)|(?:\/\/|#)[^\r\n]*/g;

/** Any value may be a secret, so all values except `known` ones are masked. Line breaks stay. */
export function coverValues(text: string, known: ReadonlySet<string>): string {
  return text.replaceAll(STRING_OR_COMMENT, (found, at: number) => {
    const isQuoted = found.startsWith('"') || found.startsWith("'");
    if (isQuoted && (isName(text, at + found.length) || known.has(valueOf(found)))) return found;
    const [, start = "", inside = "", end = ""] = PARTS.exec(found) ?? [];
    return start + inside.replaceAll(/[^\r\n]+/g, "…") + end;
  });
}

const PARTS = /^("""|'''|"|'|\/\*|\/\/|#)([^]*?)(\1|\*\/)?$/;

const isName = (text: string, end: number): boolean => /^[ \t]*[:=]/.test(text.slice(end, end + 80));

function valueOf(quoted: string): string {
  if (!quoted.startsWith('"')) return quoted.slice(1, -1);
  try {
    const value: unknown = JSON.parse(quoted);
    return typeof value === "string" ? value : quoted;
  } catch {
    return quoted;
  }
}
