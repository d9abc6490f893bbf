/**
 * Whether two questions ask the same in other words, by their words alone. A false yes is worse than a missed one: so
 * what distinguishes them counts more than what they share.
 */

import { isNegation } from "../../claims/language.ts";
import { type Word, wordsOf } from "../../claims/words.ts";

/** The keys of words that say nothing about the subject of a request. Verbs in -ise stand for those in -ize, too. */
const OF_REQUESTS = new Set(
  wordsOf(
    `please tell give show find research investigate explain describe summarise analyse examine review write report
    overview summary analysis study detail detailed comprehensive thorough in-depth learn want need question answer
    information info current currently latest recent recently now good known really actually exactly there any some
    compare comparison versus vs do does doing get getting use using about regarding concerning bitte erkläre beschreibe
    bericht überblick zusammenfassung aktuell aktuelle recherchiere untersuche`,
  ).map(({ key }) => key),
);

/** Small words that make another question of the same nouns and verbs. */
const TELLING = new Set(
  `when why who whose where many much was were will would should must from to into before after during since until
  without against under over below above between among within through only least most wann warum wer wo viele war
  waren wird vor nach seit bis ohne gegen unter über zwischen aus quand pourquoi qui où combien était avant après sans
  contre sous sur entre depuis`.split(/\s+/),
);

/** What stands between two items of a list; nothing else does. */
const BETWEEN_ITEMS =
  /^(?:\s*[,、&]|(?:\s*,)?\s+(?:and|or|vs\.?|versus|und|oder|et|ou))\s*(?:the|an?|der|die|das|den|le|la|les)?\s*$/iu;

/** Fewer words are too few to tell questions apart. */
const MIN_SHARED = 2;

export function isSameQuestion(one: string, other: string): boolean {
  const [first, second] = [readQuestion(one), readQuestion(other)];
  if (first.keys.length < MIN_SHARED) return false;
  return first.keys.join(" ") === second.keys.join(" ") && first.telling === second.telling;
}

/**
 * What a question is about, in its order, and the small words that decide what is asked about it. The items of a list are
 * sorted: only their order says nothing.
 */
function readQuestion(question: string): { keys: string[]; telling: string } {
  const text = withSigns(question);
  const words = wordsOf(text);
  const subject = words.filter((word) => isSubject(word) && !OF_REQUESTS.has(word.key.replace(/z$/, "s")));
  const telling = words.map((word) => word.text.toLowerCase()).filter((word) => TELLING.has(word) || isNegation(word));
  const lists: string[][] = [];
  let end = 0;
  for (const { key, start, ...word } of subject) {
    const items = BETWEEN_ITEMS.test(text.slice(end, start)) ? lists.pop() : undefined;
    lists.push([...(items ?? []), key]);
    end = word.end;
  }
  const keys = lists.flatMap((items) => items.toSorted());
  return { keys: [...new Set(keys)], telling: [...new Set(telling)].toSorted().join(" ") };
}

/** As `wordsOf` reads it, with the sign of a number and the percent sign as words. */
const withSigns = (question: string): string =>
  question
    .normalize("NFKC")
    .replaceAll("%", " percent ")
    .replaceAll(/(?<![\p{L}\p{N}])[-−](?=\d)/gu, " minus ");

/** `US` and `IT` are names. */
const isSubject = ({ isContent, text }: Word): boolean => isContent || /^\p{Lu}{2,}$/u.test(text);
