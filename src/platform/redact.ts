/** Replaces secrets in text by their names, wherever they occur. */

/** Shorter values are too likely to be ordinary words. */
const MIN_SECRET_CHARACTERS = 6;

/** Not `{30,}`: V8 keeps a state per character for it, which exceeds the stack on a run of some megabytes. */
const GOOGLE_KEY = /AIza[0-9A-Za-z_-]{30}[0-9A-Za-z_-]*/g;

export function createRedactor(secrets: Record<string, string | undefined>): (text: string) => string {
  const known = Object.entries(secrets)
    .filter((entry): entry is [string, string] => (entry[1]?.length ?? 0) >= MIN_SECRET_CHARACTERS)
    .flatMap(([name, value]) => spellings(value).map((spelling) => ({ name, spelling })))
    // Longest first, so that a secret that contains another is replaced completely.
    .sort((a, b) => b.spelling.length - a.spelling.length);
  return (text) => {
    let clean = text;
    for (const { name, spelling } of known) clean = clean.replaceAll(spelling, `[${name}]`);
    return clean.replaceAll(GOOGLE_KEY, "[API key]");
  };
}

/** A secret is spelled differently in a URL and in JSON. */
function spellings(value: string): string[] {
  return [...new Set([value, encodeURIComponent(value.toWellFormed()), JSON.stringify(value).slice(1, -1)])];
}
