/**
 * The gates of every result, whatever produced it: text that is no report, a report twice, an answer without any source,
 * an answer in another language than asked for. The text is kept in every case, because it was paid for.
 */

import { languageName, languageOf, wishedLanguage } from "./language.ts";
import { isCertainEchoOf, isCertainPlaceholder, isEchoOf } from "./placeholder.ts";
import { hasRepeatedBody } from "./repeated-body.ts";

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
