/** Rewrites the prose of a Markdown text and leaves its code as it is. */

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** Looked for at the first of several backticks only, or a line of nothing else would take quadratic time. */
const CODE_SPAN = /((?<!`)`+(?!`)[^`]+`+)/;

/** `rewrite` is called with pieces of single lines; work is linear in the text where the rewriting is. */
export function outsideCode(text: string, rewrite: (prose: string) => string): string {
  let fence: string | undefined;
  return text
    .split("\n")
    .map((line) => {
      const mark = FENCE.exec(line.slice(0, 100))?.[1];
      if (fence !== undefined) {
        if (mark?.startsWith(fence) === true) fence = undefined;
        return line;
      }
      if (mark !== undefined) {
        fence = mark;
        return line;
      }
      if (!line.includes("`")) return rewrite(line);
      const pieces = line.split(CODE_SPAN);
      return pieces.map((piece, index) => (index % 2 === 0 ? rewrite(piece) : piece)).join("");
    })
    .join("\n");
}
