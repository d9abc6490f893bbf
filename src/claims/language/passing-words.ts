/** Words of a page's sentence that a claim may leave out. */

import type { Token } from "./tokens.ts";
import type { Language } from "./word-lists.ts";

/** The legal form of a company is seldom repeated. */
export const LEGAL_FORMS: ReadonlySet<string> = new Set(
  "AG SE Inc Ltd LLC GmbH SA SAS SARL Corp plc PLC NV BV KG Co".split(" "),
);

const TIME_WORDS: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: new Set("monday tuesday wednesday thursday friday saturday sunday today yesterday".split(" ")),
  de: new Set("montag dienstag mittwoch donnerstag freitag samstag sonntag heute gestern".split(" ")),
  fr: new Set("lundi mardi mercredi jeudi vendredi samedi dimanche aujourd'hui hier".split(" ")),
  ja: new Set(),
};

export const isTimeWord = ({ kind, text }: Token, language: Language): boolean =>
  TIME_WORDS[language].has(text.toLowerCase()) || (kind === "word" && /^\d{1,2}:\d\d/.test(text));
