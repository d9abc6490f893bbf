/** Recognises the languages whose sentences are compared; other languages are left alone. */

import { type Language, WORD_LISTS } from "./word-lists.ts";

const MAX_CHARACTERS = 4_000;

/** Undefined if the text is in another language, or too short to tell. */
export function languageOf(whole: string): Language | undefined {
  const text = whole.slice(0, MAX_CHARACTERS);
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return "ja";
  if (
    /[\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hangul}\p{Script=Han}\p{Script=Hebrew}\p{Script=Greek}]/u.test(text)
  ) {
    return undefined;
  }
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counts = (["en", "de", "fr"] as const).map((language) => {
    const { stop, prepositions } = WORD_LISTS[language];
    return { language, count: words.filter((word) => stop.has(word) || prepositions.has(word)).length };
  });
  const [best, second] = counts.toSorted((a, b) => b.count - a.count);
  if (best === undefined || best.count === 0 || best.count === second?.count) return undefined;
  // Fewer function words than in any running text of these languages.
  return best.count * 8 >= words.length ? best.language : undefined;
}
