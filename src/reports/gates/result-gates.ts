/**
 * The gates of every result, whatever produced it: text that is no report, a report twice, an answer without any source,
 * an answer in another language than asked for. The text is kept in every case, because it was paid for.
 */

export interface GatedResult {
  report: string;
  question: string;
  /** The language that the caller asked for. */
  language?: string | undefined;
  /** Whether a page was found or opened for it; undefined if that is not known, or if none is needed. */
  isGrounded: boolean | undefined;
}

/** Why a text is no result at all; undefined if it is one. */
export function emptyResultReason({ report, question }: Pick<GatedResult, "report" | "question">): string | undefined {
  if (isCertainPlaceholder(report)) return "The text is only a placeholder.";
  return isCertainEchoOf(report, question) ? "The text only repeats the question." : undefined;
}

/** For a text that is returned whatever it is: of a search, or of a run that had ended before. */
export function allWarnings(result: GatedResult): string[] {
  const reason = emptyResultReason(result);
  return [...(reason === undefined ? [] : [`${reason} Ask again.`]), ...resultWarnings(result)];
}

/** What a reader must know about a result, one sentence each, with what to do. */
export function resultWarnings(result: GatedResult): string[] {
  return [echoWarning(result), repeatedWarning(result), groundingWarning(result), languageWarning(result)].filter(
    (warning) => warning !== undefined,
  );
}

const echoWarning = ({ report, question }: GatedResult): string | undefined =>
  isEchoOf(report, question) && !isCertainEchoOf(report, question)
    ? "The whole answer is a part of the question: check that it answers it."
    : undefined;

const repeatedWarning = ({ report }: GatedResult): string | undefined =>
  hasRepeatedBody(report) ? "The report contains its text twice: read the first half." : undefined;

const groundingWarning = ({ isGrounded }: GatedResult): string | undefined =>
  isGrounded === false
    ? "No web page was found or opened for this answer: it comes from the model alone. Ask again, or check it elsewhere."
    : undefined;

const MIN_ANSWER_WORDS = 40;
const MIN_QUESTION_WORDS = 6;

function languageWarning({ report, question, language }: GatedResult): string | undefined {
  const wished = language === undefined ? undefined : wishedLanguage(language);
  // A wish for a language that is not recognised here says nothing about the question's.
  const expected = language === undefined ? languageOfQuestion(question) : wished;
  const found = languageOf(report, MIN_ANSWER_WORDS);
  if (expected === undefined || found === undefined || found === expected) return undefined;
  const name = languageName(expected);
  const advice =
    language === undefined ? "Ask again and name the language." : `Ask again, or write the question in ${name}.`;
  return `The answer is in ${languageName(found)}, not in ${name}. ${advice}`;
}

/** A question that names a language may ask for it, as in "antworte auf Englisch". */
const NAMES_A_LANGUAGE =
  /\b(?:english|german|french|spanish|italian|portuguese|dutch|japanese|chinese|korean|greek|hebrew|thai|englisch|deutsch|französisch|spanisch|anglais|allemand|français|inglés|alemán|español|inglese|tedesco|italiano|inglês|engels|nederlands|translat|übersetz|tradui|traduc)|英語|日本語|中文|英文|영어|한국어/iu;

const languageOfQuestion = (question: string): string | undefined =>
  NAMES_A_LANGUAGE.test(question) ? undefined : languageOf(question, MIN_QUESTION_WORDS);

// Recognises text that stands for a report without being one.

/** A whole text in brackets, such as `[Your report here]`. */
const BRACKETED = /^\s*(?:<[^<>]*>|\[[^[\]]*\]|\{\{?[^{}]*\}?\})\s*$/;

/** An address in angle brackets, which Markdown shows as a link, answers a question for an address. */
const AUTOLINK = /^\s*<(?:https?:\/\/[^\s<>]+|[^\s<>@]+@[^\s<>@]+)>\s*$/i;

/** An answer in JSON is data. */
export const isBracketed = (text: string): boolean => BRACKETED.test(text) && !isJson(text) && !AUTOLINK.test(text);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const NO_WORDS = /^[\s\p{P}\p{S}]*$/u;
const PLACEHOLDER =
  /^\W*(?:string|text|report|result|markdown|placeholder|todo|tbd|n\/?a|none|null|undefined|lorem ipsum.*(?!.)|(?:your|the|full|final|complete|updated|whole|insert|write|put)\b[\w\s,'-]{0,60}\b(?:report|result|answer|here|markdown)(?:\s+(?:goes\s+)?(?:here|below))?)\W*$/iu;

export const isPlaceholder = (text: string): boolean =>
  isBracketed(text) || NO_WORDS.test(text) || PLACEHOLDER.test(text);

/** Without phrases such as "The whole report.", which a short report may consist of. */
const CERTAIN_PLACEHOLDER =
  /^\W*(?:placeholder|todo|tbd|n\/a|null|undefined|lorem ipsum.*(?!.)|(?:your|insert|write|put)\b[\w\s,'-]{0,60}\b(?:here|below))\W*$/iu;

/** For a text that was paid for as a whole and cannot be requested again: only what is beyond doubt. */
const isCertainPlaceholder = (text: string): boolean =>
  isBracketed(text) || NO_WORDS.test(text) || CERTAIN_PLACEHOLDER.test(text);

/** Shorter repetitions may be coincidental. */
const MIN_ECHO_CHARACTERS = 30;

/** Whether a report is nothing but a part of what was sent. */
export function isEchoOf(report: string, sent: string): boolean {
  const text = normalised(report);
  return text.length >= MIN_ECHO_CHARACTERS && normalised(sent).includes(text);
}

/** Whether a report is all of what was sent. A part may be an answer: a question may quote what it lets choose from. */
const isCertainEchoOf = (report: string, sent: string): boolean =>
  isEchoOf(report, sent) && normalised(report) === normalised(sent);

const normalised = (text: string): string =>
  text
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .toLowerCase();

// Recognises a report that contains its own text twice, as after a stream that was sent again.

const MIN_CHARACTERS = 400;
const OPENING_CHARACTERS = 120;
/** The second copy may be cut, but not be a mere summary. */
const MIN_COPY = 0.4;
const MIN_COMMON = 0.9;

function hasRepeatedBody(report: string): boolean {
  const text = report.replaceAll(/\s+/g, " ").trim();
  if (text.length < MIN_CHARACTERS) return false;
  const opening = text.slice(0, OPENING_CHARACTERS);
  const from = Math.floor(text.length * (1 - MIN_COPY) * 0.5);
  const at = text.indexOf(opening, Math.max(from, OPENING_CHARACTERS));
  if (at === -1) return false;
  const copy = text.slice(at);
  return copy.length >= text.length * MIN_COPY && commonStart(text, copy) >= copy.length * MIN_COMMON;
}

function commonStart(one: string, other: string): number {
  let length = 0;
  while (length < other.length && one[length] === other[length]) length += 1;
  return length;
}

// Recognises the language of a text by its script and its most frequent words; in doubt it has none.

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

/** The base tag, such as `de`; undefined in doubt. */
function languageOf(text: string, minWords: number): string | undefined {
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

const languageName = (language: string): string => NAMES.of(language) ?? language;

/** The base tag of a wish such as `de-AT`, `German` or `Deutsch`; undefined if it is none of the known ones. */
function wishedLanguage(wish: string): string | undefined {
  const known = [...SCRIPTS.map(([language]) => language), ...Object.keys(FREQUENT)];
  const name = wish.trim().toLowerCase();
  return known.find((language) => {
    const own = new Intl.DisplayNames(language, { type: "language" }).of(language);
    const names = [language, languageName(language), own ?? ""].map((each) => each.toLowerCase());
    return names.includes(name) || name.startsWith(`${language}-`);
  });
}
