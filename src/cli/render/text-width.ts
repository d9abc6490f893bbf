/** Measures how many terminal columns a text takes, and cuts it. */

/** East Asian wide and fullwidth (Unicode's EastAsianWidth.txt), for which regular expressions have no property. */
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\u4DBF\u4E00-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{1B2FF}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/u;
/** Characters that become emoji by a selector: hearts, keycaps. */
const MADE_WIDE = /\p{Emoji}[\uFE0F\u20E3]/u;
const NO_WIDTH = /^[\p{Mark}\p{Control}\p{Format}]+$/u;
const PLAIN = /^[ -~]*$/;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  return charactersOf(text).reduce((sum, character) => sum + characterWidth(character), 0);
}

/** Grapheme clusters: what a reader sees as one character. */
export const charactersOf = (text: string): string[] => Array.from(graphemes.segment(text), ({ segment }) => segment);

/** Whether a character of the text takes two columns. */
export const isWide = (text: string): boolean => WIDE.test(text);

function characterWidth(character: string): number {
  if (NO_WIDTH.test(character)) return 0;
  return isWide(character) || MADE_WIDE.test(character) ? 2 : 1;
}

/** Cuts a line to this width and ends it with an ellipsis. */
export function cutToWidth(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return `${headOf(text, width - 1).trimEnd()}…`.slice(0, Math.max(0, width) === 0 ? 0 : undefined);
}

/** The longest beginning that fits, in whole characters. */
function headOf(text: string, width: number): string {
  let head = "";
  let taken = 0;
  for (const character of charactersOf(text)) {
    taken += characterWidth(character);
    if (taken > width) return head;
    head += character;
  }
  return head;
}
