/** Recognises questions that are too vague to be worth dollars, by lists of words: no model is asked. */

import { beginningOf, cleanText } from "../../platform/clean-text.ts";

/** Fewer words with a meaning of their own than this, and no name or figure to hold on to, make a question vague. */
const MIN_MEANINGFUL_WORDS = 3;
/** A name or figure beside one other word narrows a question enough. */
const MIN_WORDS_WITH_NAME = 2;
/** A long compound, as German writes it, says as much as two words. */
const MIN_COMPOUND_CHARACTERS = 15;
/** A longer text has explained what is meant, whatever its words are. */
const MAX_CHARACTERS = 120;

/** Words that ask, connect or stand for anything, in the languages of most users. */
const EMPTY_WORDS = new Set(
  `a about all also an and any are as at be been best between but by can could describe did different do does everything explain
  find for from general get give good had has have help her his how i if important in info information into is it its know latest
  like look make many me more most much my need new news of on one or other our out overview please present question
  report research say should show some something state stuff summary tell than that the their them there these they
  thing things this to topic understand up us use want was we were what when where which who why will with would write you your
  aber alle alles als am an auf aus bei beim bitte das dass dem den der des die dies ein eine einem einen einer eines
  er erkläre erklären erzähl erzähle es etwas finde für gib gibt hat hatte ich ihr im in info informationen ist kann man mehr mein mich mir mit
  nach neues oder sag schreib sein sich sie sind so thema über überblick um und uns unter vom von vor warum was welche
  welcher welches wenn wer werden wie wir wird wo zeig zu zum zur
  au aux avec ce ces comment dans de des donne du elle en est et explique il la le les ma mais me moi mon ne nous on ou où par
  parle pas plus pour pourquoi quand que quel quelle quels qui quoi sa se ses sont sujet sur tout tous un une vous
  al algo como con cual cuando cuál cuándo cómo de del dime donde dónde el ella en es esta este explica hay la las lo los más mi
  no o para pero por porque qué quién se ser sobre su sus tema todo un una y
  che chi come con cosa da dal del della di dimmi dove e gli i il in la le lo ma nel parlami per perché più quale quando
  si sono spiega su sul tutto un una
  事 件 物 者 的 方 人 何 全部 全て 情報 最新 教え 調べ 説明 知り 知 下 関 対 什么 怎么 如何 为什么 请 告诉 我 关于 介绍 一下 是 有 吗 呢 了 和 与`
    .split(/\s+/)
    .filter((word) => word !== ""),
);

/** Particles and endings of Japanese. */
const HIRAGANA = /^[\p{Script=Hiragana}ー]+$/u;
const FIGURE = /\p{N}/u;
/** Not the first word of the question, which is written with a capital anyway. */
const CAPITALISED = /^\p{Lu}/u;

export function isVague(query: string): boolean {
  const text = query.trim();
  if (text.length > MAX_CHARACTERS || /https?:|\n/.test(text)) return false;
  const words = [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)]
    .filter(({ isWordLike }) => isWordLike === true)
    .map(({ segment }) => segment);
  const meaningful = words.filter((word) => !EMPTY_WORDS.has(word.toLowerCase()) && !HIRAGANA.test(word));
  const size = meaningful.reduce((sum, word) => sum + (word.length >= MIN_COMPOUND_CHARACTERS ? 2 : 1), 0);
  const isName = (word: string): boolean => FIGURE.test(word) || (CAPITALISED.test(word) && word !== words[0]);
  return size < (meaningful.some(isName) ? MIN_WORDS_WITH_NAME : MIN_MEANINGFUL_WORDS);
}

/**
 * In our own words: the question itself may have been written by a model. Short: dialogs cut it off. How to answer is said
 * by who asks: a terminal has Enter, a dialog a button to decline.
 */
export const clarifyingQuestion = (price: string | undefined): string =>
  `What should it focus on?${price === undefined ? "" : ` (about ${price})`}`;

/** Words that mean no wherever a text is asked for: nobody researches them, and what they would start is paid for. */
const REFUSALS = /^(?:n|no|nope|nein|later|q|quit|exit|stop|cancel|abort)$/i;
const YES = /^(?:y|yes|ok)$/i;

/** Whether the answer to a question for a text declines what would be started with it. */
export const isRefusal = (answer: unknown): boolean => typeof answer === "string" && REFUSALS.test(wordOf(answer));

/** Without the quotation marks and punctuation that people type around a single word. */
const wordOf = (answer: string): string =>
  cleanText(answer)
    .trim()
    .replaceAll(/^["'“]+|["'”.!]+$/g, "");

const MAX_DETAIL_CHARACTERS = 2_000;

/** The question together with the user's answer; unchanged if the user skipped it, or only agreed. */
export function withDetails(query: string, answer: unknown): string {
  const text = typeof answer === "string" ? cleanText(answer).trim() : "";
  const details = beginningOf(text, MAX_DETAIL_CHARACTERS);
  return details === "" || YES.test(wordOf(details)) ? query : beginningWithDetails(query) + details;
}

/** How a question begins that a user has made more precise. */
export const beginningWithDetails = (query: string): string => `${query.trim()}\n\nWhat is meant: `;
