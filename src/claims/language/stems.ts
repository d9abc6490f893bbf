/** Word forms that count as the same: inflection, and words for a rise or a fall. */

import type { Language } from "./word-lists.ts";

/** Words for the same event; a claim may use another one than its page. */
const GROUPS: Readonly<Record<Language, readonly string[]>> = {
  en: [
    "↑ rise rises rose risen rising increase increases increased increasing grow grows grew grown growing climb climbs climbed gain gains gained up raise raises raised",
    "↓ fall falls fell fallen falling decrease decreases decreased decreasing decline declines declined declining drop drops dropped down lower lowers lowered cut cuts reduce reduces reduced shrink shrank shrunk",
    "buy buys buying acquire acquires acquiring purchase purchases purchasing",
    "bought acquired purchased",
    "begin begins began start starts started",
    "employ employs employed",
  ],
  de: [
    "↑ stieg stiegen steigt steigen gestiegen erhöhte erhöht erhöhten wuchs wuchsen wächst gewachsen zunahm zugenommen",
    "↓ sank sanken sinkt sinken gesunken fiel fielen fällt fallen gefallen senkte senkt gesenkt verringerte verringert schrumpfte abnahm abgenommen",
  ],
  fr: [
    "↑ augmente augmentent augmenté augmentait progresse progressé progresser croît crû hausse",
    "↓ baisse baissé baissent diminue diminué diminuent recule reculé chute chuté",
  ],
  ja: [],
};

const GROUP_OF = new Map<string, string>();
for (const [language, groups] of Object.entries(GROUPS)) {
  for (const group of groups) {
    const [key = "", ...words] = group.split(" ");
    for (const word of [key, ...words]) GROUP_OF.set(`${language}:${word}`, key);
  }
}

export const isDirection = (key: string): boolean => key === "↑" || key === "↓";

export function stemOf(word: string, language: Language): string {
  return GROUP_OF.get(`${language}:${word}`) ?? INFLECTION[language](word);
}

const INFLECTION: Readonly<Record<Language, (word: string) => string>> = {
  en: (word) => {
    if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
    if (word.length > 4 && /(?:ss|sh|ch|x)es$/.test(word)) return word.slice(0, -2);
    return word.length > 3 && /[^su]s$/.test(word) && !word.endsWith("is") ? word.slice(0, -1) : word;
  },
  de: (word) => (word.length > 5 ? word.replace(/(?:en|em|es|er|e|n|s)$/, "") : word),
  fr: (word) => (word.length > 4 ? word.replace(/[sx]$/, "") : word),
  ja: (word) => word,
};
