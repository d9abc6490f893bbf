/** Rewordings by script that leave what a sentence says: other notations, synonyms, another order of its clauses, introductions. */

/** Most are in the list of `src/claims/reworded.ts`: a pair that is in no list is news, on purpose. */
const SYNONYMS: [from: RegExp, to: string][] = [
  [/\brose\b/, "grew"],
  [/\bfell\b/, "dropped"],
  [/\bbuilt\b/, "constructed"],
  [/\bsaid\b/, "stated"],
  [/\babout\b/, "around"],
  [/\bbought\b/, "acquired"],
  [/\bopened\b/, "started"],
  [/\bbegan\b/, "started"],
  [/\bfounded\b/, "set up"],
  [/\bcompany\b/, "firm"],
  [/\bworkers\b/, "employees"],
  [/\binhabitants\b/, "residents"],
  [/\breceived\b/, "got"],
  [/\bvisited\b/, "went to"],
  [/\bplans to\b/, "intends to"],
  [/\bfinished\b/, "completed"],
  [/\bshows\b/, "indicates"],
  [/\blargest\b/, "biggest"],
  [/\bpays\b/, "gives"],
  [/\bwill\b/, "is going to"],
  [/\bhomes\b/, "houses"],
  [/\bchildren\b/, "kids"],
  [/\bcar\b/, "vehicle"],
  [/\bfirst\b/, "earliest"],
  [/\bmust\b/, "has to"],
  [/\bhas been\b/, "was"],
  [/\bwas carried out\b/, "took place"],
];

const NUMBERS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

const withSmallStart = (sentence: string): string =>
  /^(?:The|A|An|In|On|From|Since|After|Its|His|Her|It|They|Under)\b/.test(sentence)
    ? sentence.slice(0, 1).toLowerCase() + sentence.slice(1)
    : sentence;
const withLargeStart = (sentence: string): string => sentence.slice(0, 1).toUpperCase() + sentence.slice(1);

/** The last ones are in no list of the comparison. */
const INTRODUCTIONS = [
  "According to the latest reports,",
  "Overall,",
  "Several sources confirm that",
  "At present,",
  "To begin with,",
];

/** Each returns the sentence itself where it does not apply. */
export const REWORDINGS: Record<string, (sentence: string) => string> = {
  notation: (sentence) =>
    sentence
      .replaceAll(/(\d) percent\b/g, "$1%")
      .replaceAll(/(\d+) (million|billion)\b/g, (_, digits: string, scale: string) => `${digits} ${scale[0]}n`)
      .replaceAll(/\beuros\b/g, "EUR")
      .replaceAll(/\bdollars\b/g, "USD")
      .replaceAll(/(?<=\s)(?:1?\d)(?= [a-z])/g, (digits) => NUMBERS[Number(digits) - 2] ?? digits)
      .replaceAll(new RegExp(`\\b(?:${NUMBERS.join("|")})\\b`, "g"), (word) => String(NUMBERS.indexOf(word) + 2)),
  synonyms: (sentence) => SYNONYMS.reduce((text, [from, to]) => text.replace(from, to), sentence),
  "time first": (sentence) =>
    sentence
      .replace(
        /^([^,;]+) ((?:in|on|since) (?:\d{1,2} )?(?:[A-Z][a-z]+ )?\d{4})\.$/,
        (_, rest: string, time: string) => `${withLargeStart(time)}, ${withSmallStart(rest)}.`,
      )
      .replace(
        /^((?:In|On|Since) (?:\d{1,2} )?(?:[A-Z][a-z]+ )?\d{4}),? ([^,;]+)\.$/,
        (_, time: string, rest: string) => `${withLargeStart(rest)} ${withSmallStart(time)}.`,
      ),
  "clauses turned": (sentence) =>
    sentence.replace(
      /^([^,;]+),? (because|after|when|while|although|as) ([^,;]+)\.$/,
      (_, rest: string, joint: string, clause: string) =>
        `${withLargeStart(joint)} ${withSmallStart(clause)}, ${withSmallStart(rest)}.`,
    ),
  "two sentences": (sentence) =>
    sentence.replace(
      /^([^;]+)(?:;|, and) ([^,;]+)\.$/,
      (_, one: string, other: string) => `${one}. ${withLargeStart(other)}.`,
    ),
  introduction: (sentence) => `${INTRODUCTIONS[sentence.length % INTRODUCTIONS.length]} ${withSmallStart(sentence)}`,
};

/** All of them, one after another. */
export const reworded = (sentence: string): string =>
  ["notation", "synonyms", "time first", "introduction"].reduce(
    (text, kind) => REWORDINGS[kind]?.(text) ?? text,
    sentence,
  );
