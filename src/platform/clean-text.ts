/** Removes from untrusted text what a reader cannot see but a terminal or a model would act on. */

/** CSI and OSC sequences: colours, cursor movement, window titles, clipboard writes. */
const TERMINAL_SEQUENCE = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\-_])/g;
/**
 * Control characters except tab and line break, since a lone carriage return overwrites a line, and the soft hyphen,
 * which is invisible.
 */
const CONTROL = /[\u0000-\u0008\u000E-\u001F\u007F-\u009F\u00AD]/g;
/**
 * Direction marks and invisible characters, including tags and the variation selectors of rare glyphs: each has been
 * used to hide text. Joiners and the two emoji selectors stay, because several scripts need them. Mongolian letters
 * lose their variants and Egyptian signs their grouping, but the letters stay.
 */
const INVISIBLE =
  // oxlint-disable-next-line no-misleading-character-class -- each of them stands for itself
  /[\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180D\u180F\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0D\uFEFF\uFFA0\uFFF0-\uFFFB\u{13430}-\u{1343F}\u{16FE4}\u{1BCA0}-\u{1BCA3}\u{1D159}\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}]/gu;
/** Between two Mongolian letters it is part of the word; elsewhere it is only invisible. */
const STRAY_SEPARATOR = /(?<![\u1820-\u18AA])\u180E|\u180E(?![\u1820-\u18AA])/g;
/** No emoji and no script has three in a row; an encoded hidden text does. */
// oxlint-disable-next-line no-misleading-character-class -- each of them stands for itself
const JOINERS_IN_A_ROW = /[\u200C\u200D\uFE0E\uFE0F]{3,}/g;

/** In this order: each works on what the ones before it have left. */
const STEPS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [TERMINAL_SEQUENCE, ""],
  [/\r\n?/g, "\n"],
  [/[\u000B\u000C\u0085\u2028\u2029]/g, "\n"],
  [CONTROL, ""],
  [INVISIBLE, ""],
  // Braille blank: a word separator in Braille, invisible otherwise.
  [/\u2800/g, " "],
  [STRAY_SEPARATOR, ""],
  [JOINERS_IN_A_ROW, ""],
];

/** Lone surrogates first: they could form a character once the text between them is removed. */
export const cleanText = (text: string): string =>
  STEPS.reduce((cleaned, [pattern, replacement]) => cleaned.replaceAll(pattern, replacement), text.toWellFormed());

export interface PositionedText {
  text: string;
  /** Where a given position is now. */
  positions: ReadonlyMap<number, number>;
}

/** Cleans a text and moves positions in it with their characters. */
export const cleanTextAt = (text: string, positions: readonly number[]): PositionedText =>
  replaceAt(text.toWellFormed(), { steps: STEPS, positions });

/** Replaces patterns one after the other; a position inside a match moves before it. */
export function replaceAt(
  text: string,
  { steps, positions }: { steps: typeof STEPS; positions: readonly number[] },
): PositionedText {
  const given = [...new Set(positions)].toSorted((a, b) => a - b);
  let replaced = text;
  let moved = given;
  for (const [pattern, replacement] of steps) {
    const matches = [...replaced.matchAll(pattern)].map(({ index, 0: { length } }) => ({ index, end: index + length }));
    let next = 0;
    let shift = 0;
    moved = moved.map((position) => {
      for (let match = matches[next]; match !== undefined && match.end <= position; match = matches[next]) {
        shift += replacement.length - (match.end - match.index);
        next += 1;
      }
      return shift + Math.min(position, matches[next]?.index ?? position);
    });
    if (matches.length > 0) replaced = replaced.replaceAll(pattern, replacement);
  }
  return { text: replaced, positions: new Map(given.map((position, index) => [position, moved[index] ?? 0])) };
}

/** A heading on a line of its own, as thoughts begin with. */
const HEADING = /^\s*(?:\*\*([^*\n]{1,200}?):?\*\*|#{1,6}[ \t]([^\n]{1,200}?):?)[ \t]*\n\s*(?=\S)/;

/** The beginning of a text, not cut in the middle of a character. */
export const beginningOf = (text: string, maxCharacters: number): string =>
  text.slice(0, maxCharacters).replace(/[\uD800-\uDBFF]$/, "");

/** The beginning of a text, with an ellipsis if that is not all. */
export const shortened = (text: string, maxCharacters: number): string =>
  text.length <= maxCharacters ? text : `${beginningOf(text, maxCharacters)}…`;

const MAX_LINE_CHARACTERS = 300;

/** Makes one short line of a thought or query, without Markdown emphasis; a heading ends with a colon. */
export const oneLine = (text: string): string =>
  beginningOf(
    cleanText(text)
      .replace(HEADING, "$1$2: ")
      .replaceAll(/[\s*#]+/g, " ")
      .trim(),
    MAX_LINE_CHARACTERS,
  );

/** Cleans every string in a value. Keys are our own and stay. */
export function cleanValue<T>(value: T): T;
export function cleanValue(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (Array.isArray(value)) return value.map((item: unknown) => cleanValue(item));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => [key, cleanValue<unknown>(item)]),
    );
  }
  return value;
}
