/** Parses a user's search text into words, which are passed to the index as data, never as query syntax. */

const MAX_WORDS = 32;
/** The index contains only letters and digits; a word without any would never match. */
const HAS_LETTER = /[\p{L}\p{N}\p{Co}]/u;
/** Short ASCII prefixes such as "the" would scan most of the index. Scripts without spaces have no minimum. */
const MIN_PREFIX_LETTERS = 4;
const IS_ASCII = /^[\n\u0020-\u007E]*$/;
const WORD_OR_PHRASE = /"([^"]*)"|[^\s"]+/gu;

export interface SearchWord {
  text: string;
  /** Prefix match, because the user may still be typing the word. */
  begins: boolean;
}

/** Splits the text into words, and phrases in quotation marks. */
export function searchWords(text: string): SearchWord[] {
  const pieces = [...text.replaceAll("\0", " ").matchAll(WORD_OR_PHRASE)]
    .map(([whole, phrase]) => ({ text: (phrase ?? whole).trim(), phrase: phrase !== undefined }))
    .filter((piece) => HAS_LETTER.test(piece.text))
    .slice(0, MAX_WORDS);
  return pieces.map(({ text: word, phrase }, index) => ({
    text: word,
    begins: index === pieces.length - 1 && !phrase && (word.length >= MIN_PREFIX_LETTERS || !IS_ASCII.test(word)),
  }));
}

/** Normalises text as the index does: lower case, without accents. */
export const foldedText = (text: string): string =>
  // ASCII text skips the much slower Unicode normalization.
  (IS_ASCII.test(text) ? text : text.normalize("NFD").replaceAll(/\p{M}/gu, "")).toLowerCase();

/** The items whose question contains all words. */
export function filterByWords<Item extends { query: string }>(items: Item[], words: readonly SearchWord[]): Item[] {
  const sought = words.map(({ text }) => foldedText(text));
  return items.filter(({ query }) => {
    const inside = foldedText(query);
    return sought.every((word) => inside.includes(word));
  });
}

export interface FoundPiece {
  text: string;
  marked?: boolean;
}
