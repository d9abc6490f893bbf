/** A settings file as it may be shown: what it says of other servers stays covered, whatever it is called there. */

/** Strings of both formats, those over several lines too, and remarks, in which a whole old entry may stand. */
const QUOTED_OR_REMARK =
  /"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"?|'[^'\r\n]*'?|\/\*[^]*?(?:\*\/|$)|(?:\/\/|#)[^\r\n]*/g;

/** Any value may be a secret, so only those that are known to be none stay open. Lines stay lines. */
export function coverValues(text: string, known: ReadonlySet<string>): string {
  return text.replaceAll(QUOTED_OR_REMARK, (found, at: number) => {
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
