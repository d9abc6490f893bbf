/** Recognises the language of a text by its script and its most frequent words; in doubt it has none. */

/** Scripts that only one of the languages below uses. Japanese text contains Han characters, too, so kana decide first. */
const SCRIPTS: readonly (readonly [language: string, letters: RegExp])[] = [
  ["ja", /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ["zh", /\p{Script=Han}/gu],
  ["ko", /\p{Script=Hangul}/gu],
  ["el", /\p{Script=Greek}/gu],
  ["he", /\p{Script=Hebrew}/gu],
  ["th", /\p{Script=Thai}/gu],
];

/** Words that are frequent in one of the languages and not in the others. */
const FREQUENT: Readonly<Record<string, readonly string[]>> = {
  en: "the of and to is that for with are was this from by which what how does have not between".split(" "),
  de: "der die das und ist nicht mit von den ein eine für auf im wie werden wird sind zum zur".split(" "),
  fr: "le les des et est une dans pour que qui sur au aux du ce cette sont avec quels quelle comment".split(" "),
  es: "el los las y es una para que por con del se su como más cuáles qué cómo son fue".split(" "),
  it: "il gli che di è una per con del della nel sono non dei delle come quali più".split(" "),
  pt: "os as do da em uma para que não com dos das são é ao como quais mais foi".split(" "),
  nl: "het een van en is dat voor met zijn op niet de aan ook worden hoe wat".split(" "),
};

const WORD = /\p{L}+/gu;
/** A share of all letters that no quotation of another script reaches. */
const MIN_SCRIPT_SHARE = 0.3;
const MIN_FREQUENT_SHARE = 0.12;
/** The next language must be this much rarer: Spanish, Portuguese and Italian share words. */
const MIN_LEAD = 2;
/** Beyond this, more text changes nothing. */
const MAX_CHARACTERS = 20_000;

/** A few words of a language are also those of another one. */
const MIN_WORDS = 12;

/** The base tag, such as `de`; undefined in doubt. */
export function recognisedLanguage(text: string, minWords = MIN_WORDS): string | undefined {
  const prose = withoutMarkup(text.slice(0, MAX_CHARACTERS));
  const letters = prose.match(/\p{L}/gu)?.length ?? 0;
  for (const [language, pattern] of SCRIPTS) {
    const found = prose.match(pattern)?.length ?? 0;
    if (found >= minWords && found / letters >= MIN_SCRIPT_SHARE) return language;
  }
  const words = (prose.toLowerCase().match(WORD) ?? []).filter((word) => /^\p{Script=Latin}/u.test(word));
  if (words.length < minWords || (prose.match(/\p{Script=Latin}/gu)?.length ?? 0) / letters < 0.8) return undefined;
  return mostFrequent(words);
}

function mostFrequent(words: readonly string[]): string | undefined {
  const counts = Object.entries(FREQUENT).map(([language, frequent]) => {
    const known = new Set(frequent);
    return { language, count: words.filter((word) => known.has(word)).length };
  });
  const [first, second] = counts.toSorted((one, other) => other.count - one.count);
  if (first === undefined || first.count / words.length < MIN_FREQUENT_SHARE) return undefined;
  return first.count >= MIN_LEAD * Math.max(1, second?.count ?? 0) ? first.language : undefined;
}

/** Code, URLs and quotations are often in another language than the text. */
const withoutMarkup = (text: string): string =>
  text
    .replaceAll(/```[^]*?(?:```|$)/g, " ")
    .replaceAll(/\]\([^)\s]{1,2000}\)|https?:\/\/\S+/g, " ")
    .replaceAll(/["“„«][^"“”„«»\n]{0,400}["”“»]/g, " ");

const NAMES = new Intl.DisplayNames("en", { type: "language" });

export const languageName = (language: string): string => NAMES.of(language) ?? language;

/** The base tag of a wish such as `de-AT`, `German` or `Deutsch`; undefined if it is none of the known ones. */
export function wishedLanguage(wish: string): string | undefined {
  const known = [...SCRIPTS.map(([language]) => language), ...Object.keys(FREQUENT)];
  const name = wish.trim().toLowerCase();
  return known.find((language) => {
    const own = new Intl.DisplayNames(language, { type: "language" }).of(language);
    const names = [language, languageName(language), own ?? ""].map((each) => each.toLowerCase());
    return names.includes(name) || name.startsWith(`${language}-`);
  });
}
