/**
 * Whether two questions ask the same in other words, by their words alone. A false yes is worse than a missed one: so
 * what distinguishes them counts more than what they share.
 */

import { isNegation } from "../../claims/language.ts";
import { type Word, wordsOf } from "../../claims/words.ts";

const keysIn = (text: string): ReadonlySet<string> => new Set(wordsOf(text).map(({ key }) => key));

/** At the start of a question, these ask for an answer. Verbs in -ise stand for those in -ize, too. */
const REQUESTS = keysIn(
  `please tell explain investigate describe summarise analyse examine compare bitte erkläre beschreibe
  recherchiere untersuche`,
);
/** These do if the subject follows: `report on`, `give me`, `the latest:`; a `report card` is a subject, too. */
const REQUEST_VERBS = keysIn("give show find research review write learn want need know");
const REQUEST_NOUNS = keysIn(
  `report comparison overview summary analysis study detail detailed comprehensive thorough in-depth question answer information
  info current currently latest recent recently now known research review bericht überblick zusammenfassung aktuell
  aktuelle`,
);
const BEFORE_SUBJECT = new Set(
  `state of on about into regarding concerning how why what whether which if when where who to the a an me us my is are über zu
  von wie warum ob welche was der die das den ein eine mir uns`.split(/\s+/),
);
/** These say nothing anywhere. */
const FILLERS = new Set("versus vs really actually exactly regarding concerning".split(" "));

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
  const frame = frameLength(words, text);
  const subject = words.slice(frame).filter((word) => isSubject(word) && !FILLERS.has(word.text.toLowerCase()));
  const telling = words
    .map((word) => word.text.toLowerCase())
    // `I want to know`: not from one place to another.
    .filter((word, at) => (TELLING.has(word) && !(word === "to" && at < frame)) || isNegation(word));
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

/** How many words at the start ask for an answer, and say nothing of its subject. */
function frameLength(words: readonly Word[], text: string): number {
  // `How do I find a job` asks about finding.
  const asksAt = words.findIndex(({ text: word }) => QUESTION_WORD.test(word));
  const isRequest = (at: number): boolean => {
    const word = words[at];
    if (word === undefined) return false;
    const key = word.key.replace(/z$/, "s");
    if (REQUESTS.has(key)) return true;
    const isVerb = REQUEST_VERBS.has(key) && (asksAt < 0 || at < asksAt);
    if (!isVerb && !REQUEST_NOUNS.has(key)) return false;
    const next = words[at + 1];
    if (next === undefined || /[:,]/.test(text.slice(word.end, next.start))) return true;
    return BEFORE_SUBJECT.has(next.text.toLowerCase()) || isRequest(at + 1);
  };
  const first = words.findIndex((word, at) => isSubject(word) && !isRequest(at));
  return Math.max(0, first);
}

const QUESTION_WORD = /^(?:how|why|where|when|who|which|wie|warum|wo|wann|wer|welche[rsn]?)$/iu;

/**
 * As `wordsOf` reads it, with the sign of a number, the percent sign, that of a currency and the dot of a name such as
 * `.NET` as words.
 */
const withSigns = (question: string): string =>
  question
    .normalize("NFKC")
    .replaceAll("%", " percent ")
    .replaceAll(/(?<![\p{L}\p{N}])[-−](?=\d)/gu, " minus ")
    .replaceAll(/([$€£¥])\s?(\d[\d.,]*)/gu, (_, sign: string, amount: string) => `${amount} ${CURRENCIES[sign]} `)
    .replaceAll(/[$€£¥]/gu, (sign) => ` ${CURRENCIES[sign]} `)
    .replaceAll(/(?<![\p{L}\p{N}])\.(?=\p{L})/gu, " dot ");

const CURRENCIES: Record<string, string> = { $: "dollar", "€": "euro", "£": "pound", "¥": "yen" };

/** `US` and `IT` are names. */
const isSubject = ({ isContent, text }: Word): boolean => isContent || /^\p{Lu}{2,}$/u.test(text);
