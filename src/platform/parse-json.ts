/** Reads JSON from files of other programs: as a value if it is JSON, and with the comments of a settings file. */

/** Undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Without comments and trailing commas. Matches strings first: a URL in a string is no comment. */
export const withoutComments = (text: string): string =>
  text
    .replaceAll(/("(?:[^"\\]|\\.)*")|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g, "$1")
    .replaceAll(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, "$1");
