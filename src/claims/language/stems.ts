/** Word forms that count as the same. */

import { groupOf } from "./synonyms.ts";
import type { Language } from "./word-lists.ts";

export const isDirection = (key: string): boolean => key === "↑" || key === "↓";

/** Equal for the forms of a word and for words of one group. */
export function stemOf(word: string, language: Language): string {
  for (const form of [word, ...(language === "en" ? englishBases(word) : [])]) {
    const group = groupOf(form, language);
    if (group !== undefined) return group;
  }
  return INFLECTION[language](word);
}

/** What the word may be an inflection of: `planned` of `planned`, `planne`, `plann` and `plan`. */
function englishBases(word: string): string[] {
  const [, base, ending] = /^(.{2,}?)(ies|ied|es|ed|ing|s|d)$/.exec(word) ?? [];
  if (base === undefined) return [];
  if (ending === "ies" || ending === "ied") return [`${base}y`, `${base}ie`];
  return [base, `${base}e`, base.replace(/([b-df-hj-np-tv-z])\1$/, "$1")];
}

const INFLECTION: Readonly<Record<Language, (word: string) => string>> = {
  en: (word) => {
    // One spelling of -ise and -ize.
    if (/iz(?:e|es|ed|ing|ation)$/.test(word)) return INFLECTION.en(word.replace(/iz(?=[a-z]+$)/, "is"));
    if (word.length > 4 && /(?:ies|ied)$/.test(word)) return `${word.slice(0, -3)}y`;
    if (word.length > 4 && /(?:ss|sh|ch|x)es$/.test(word)) return word.slice(0, -2);
    const base =
      word.length > 5 && /[^e]ed$/.test(word)
        ? word.slice(0, -2).replace(/([b-df-hj-kmnp-rtv-y])\1$/, "$1")
        : word.length > 3 && /[^su]s$/.test(word) && !word.endsWith("is")
          ? word.slice(0, -1)
          : word;
    return base.length > 4 ? base.replace(/e$/, "") : base;
  },
  de: (word) => (word.length > 5 ? word.replace(/(?:en|em|es|er|e|n|s)$/, "") : word),
  fr: (word) =>
    word.length > 4 ? word.replace(/(?:ée|é)?[sx]$|ée?$/, (ending) => (ending.startsWith("é") ? "é" : "")) : word,
  ja: (word) => word,
};
