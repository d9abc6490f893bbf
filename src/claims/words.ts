/** The words of a text: inflected forms of a word are equal, and so are the notations of a number. */

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

/** In a script without spaces between words. */
export const isSpaceless = (text: string): boolean =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(text);

/** Words beyond this number are those of a list. */
const MAX_WORDS = 600;

/** In English, German and French. */
const FUNCTIONAL: ReadonlySet<string> = new Set(
  `a an the this that these those it its he she they we his her their is are was were be been do does did has have had also
    as so there than and or but which who when of in on at by to from for with about between into over after before during
    through per can could may might must shall should will would s t re ve ll i me my you your him them us our if because while where how what whom whose more most very just only other such some any all each both many much one not no its being such however
    der die das den dem des ein eine einen einem einer eines diese dieser dieses er sie es wir ihr ihre sein seine sich ist
    sind war waren wurde wurden werden hat haben auch als wie und oder aber dass im am auf aus bei beim bis durch für gegen
    mit nach seit über um unter von vom vor zu zum zur zwischen
    le la les l un une des du de d ce cet cette ces il elle ils elles on se s son sa ses leur leurs est sont était étaient
    été ont avait avaient qui que qu dont et ou mais plus à au aux en dans par pour sur avec entre depuis après avant`.split(
    /\s+/,
  ),
);

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
