/**
 * The gates of every result, whatever produced it: text that is no report, a report twice, an answer without any source,
 * an answer in another language than asked for. The text is kept in every case, because it was paid for.
 */

import { languageName, recognisedLanguage, wishedLanguage } from "../language.ts";

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
  const found = recognisedLanguage(report, MIN_ANSWER_WORDS);
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
  NAMES_A_LANGUAGE.test(question) ? undefined : recognisedLanguage(question, MIN_QUESTION_WORDS);

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
