/** What a user types to find a run, as words: they are data and never become syntax of the search index. */

const MOST_WORDS = 32;
/** The index knows letters and digits alone; what has none of them could never be found. */
const HAS_LETTER = /[\p{L}\p{N}\p{Co}]/u;
/** "the" begins so many words that the index would read most of itself; scripts without spaces begin with one letter. */
const FEWEST_LETTERS = 4;
const IS_ASCII = /^[\n\u0020-\u007E]*$/;
const PIECE = /"([^"]*)"|[^\s"]+/gu;

export interface SearchWord {
  text: string;
  /** Still being typed: words that begin with it are meant as well. */
  begins: boolean;
}

/** Words, and phrases in quotation marks. */
export function searchWords(text: string): SearchWord[] {
  const pieces = [...text.replaceAll("\0", " ").matchAll(PIECE)]
    .map(([whole, phrase]) => ({ text: (phrase ?? whole).trim(), phrase: phrase !== undefined }))
    .filter((piece) => HAS_LETTER.test(piece.text))
    .slice(0, MOST_WORDS);
  return pieces.map(({ text: word, phrase }, index) => ({
    text: word,
    begins: index === pieces.length - 1 && !phrase && (word.length >= FEWEST_LETTERS || !IS_ASCII.test(word)),
  }));
}

/** As the index compares them: without accents, in small letters. */
export const foldedText = (text: string): string =>
  // Most texts have no accents, and to look for them takes far longer than to see that.
  (IS_ASCII.test(text) ? text : text.normalize("NFD").replaceAll(/\p{M}/gu, "")).toLowerCase();

/** Those of the questions, which are in no index, that hold all words; no more are read than are asked for. */
export function holdingWords<Item extends { query: string }>(
  items: Iterable<Item>,
  { words, skip, limit }: { words: readonly SearchWord[]; skip: number; limit: number },
): Item[] {
  const sought = words.map(({ text }) => foldedText(text));
  const found: Item[] = [];
  for (const item of items) {
    const inside = foldedText(item.query);
    if (sought.every((word) => inside.includes(word))) found.push(item);
    if (found.length >= skip + limit) break;
  }
  return found.slice(skip);
}

export interface FoundPiece {
  text: string;
  marked?: boolean;
}
