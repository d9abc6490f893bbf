/** The words of a text: inflected forms of a word are equal, and so are the notations of a number. */

import { FUNCTION_WORDS } from "./language.ts";

export interface Word {
  /** Equal for words that are compared as the same. */
  key: string;
  /** As it is written. */
  text: string;
  start: number;
  end: number;
  /** Says something: no article, preposition, auxiliary or the like. */
  isContent: boolean;
  /** Begins with a capital, or is written in capitals. */
  isCapitalised: boolean;
}

/** `C#` and `C++` are other words than `C`. Scripts without spaces between words count by character. */
const WORD =
  /\d+(?:[.,]\d+)*|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{M}])+(?:\+\+|#)?/gu;

/** Words beyond this number are those of a list. */
const MAX_WORDS = 600;

const FUNCTIONAL: ReadonlySet<string> = new Set([
  ...Object.values(FUNCTION_WORDS).flatMap((words) => [...words]),
  ..."can could may might must shall should will would s t re ve ll i me my you your him them us our if because while where how what whom whose more most very just only other such some any all each both many much one not no its being such however".split(
    " ",
  ),
]);

export const wordsOf = (text: string): Word[] =>
  [...text.normalize("NFKC").matchAll(WORD)].slice(0, MAX_WORDS).map(({ 0: word, index }) => ({
    key: keyOf(word.toLowerCase()),
    text: word,
    start: index,
    end: index + word.length,
    isContent: !FUNCTIONAL.has(word.toLowerCase()),
    isCapitalised: /^\p{Lu}/u.test(word),
  }));

/** Words and numbers in lower case, as they are written. */
export const wordsIn = (text: string): string[] => text.normalize("NFKC").toLowerCase().match(WORD) ?? [];

export const keysOf = (text: string): Set<string> => new Set(wordsIn(text).map(keyOf));

/** Without the endings that inflect English words; a number has no separators. */
function keyOf(word: string): string {
  if (/^\d/.test(word)) return word.replaceAll(/[.,]/g, "");
  if (word.length < 4) return word;
  const stem = word
    .replace(/(?:ies|ied)$/, "y")
    .replace(/(?<=\p{L}{3})(?:ing|ed|es|s)$/u, "")
    .replace(/(?<=\p{L}{3})(?:ly|e)$/u, "");
  return /(?<double>[bdfgklmnprtvz])\k<double>$/.test(stem) && stem !== word ? stem.slice(0, -1) : stem;
}
