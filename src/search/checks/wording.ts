/** Compares the words of two sentences: whether they can be about the same thing, or one is a new wording of the other. */

/** Words of at least four letters, numbers, and pairs of characters in scripts without spaces. */
const CONTENT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]{2}|\p{N}+(?:[.,]\p{N}+)*|\p{L}{4,}/gu;
/** Inflected forms of a word share its beginning. */
const STEM_CHARACTERS = 5;

const stemsOf = (text: string): Set<string> =>
  new Set([...text.toLowerCase().matchAll(CONTENT)].map(([word]) => word.slice(0, STEM_CHARACTERS)));

function sharedPart(one: string, other: string): number {
  const [first, second] = [stemsOf(one), stemsOf(other)];
  if (first.size === 0) return 0;
  return [...first].filter((stem) => second.has(stem)).length / first.size;
}

/** A paraphrase keeps names and terms; a sentence with hardly any of them is about something else. */
const MIN_SHARED_WITH_QUOTE = 0.25;
const MIN_SHARED_WITH_REWORDING = 0.5;

export const sharesWords = (claim: string, quote: string): boolean => sharedPart(claim, quote) >= MIN_SHARED_WITH_QUOTE;

export const isRewording = (before: string, after: string): boolean =>
  Math.min(sharedPart(before, after), sharedPart(after, before)) >= MIN_SHARED_WITH_REWORDING;
