/** Counts the negations of a sentence. */

import type { Token } from "./tokens.ts";
import { type Language, WORD_LISTS } from "./word-lists.ts";

/** Endings of Japanese verbs, and 未, 無 and 非 before a noun. */
const JAPANESE =
  /な(?:い|かっ|く|けれ)|ません|ず(?:に|、|。|$)|ぬ(?:。|$)|未(?=\p{Script=Han})|無(?=\p{Script=Han})|非(?=\p{Script=Han})/gu;

export function negationsIn(text: string, tokens: readonly Token[], language: Language): number {
  if (language === "ja") return text.match(JAPANESE)?.length ?? 0;
  const { negations } = WORD_LISTS[language];
  const words = tokens.filter((token) => negations.has(token.text.toLowerCase()));
  // `ne … pas` is one negation; `plus de` is none.
  return language === "fr" ? words.filter(({ key }) => key !== "ne" && key !== "n").length : words.length;
}
