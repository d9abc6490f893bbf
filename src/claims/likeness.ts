/**
 * How likely a page says what a claim says, from what their words have in common: a logistic function of a few features
 * of the surface. Its coefficients are fitted by `bench/claims/fit.ts` on public collections that people have labelled.
 */

import { alignment, hasFigures } from "./conflict.ts";
import { hasOtherDirection, hasOtherNegation } from "./language.ts";
import { isTakenBack, type PageIndex, passageAround, rarity, readable } from "./page-index.ts";
import { isSpaceless, type Word, wordsOf } from "./words.ts";

/** Sentences around which a passage is looked for. */
const MAX_CANDIDATES = 4;
/** Sentences before and after the nearest one that are compared, too: lists and headings complete what a sentence says. */
const AROUND = 1;

export interface Likeness {
  probability: number;
  /** The nearest sentence with its neighbours in the same paragraph. */
  passage: string;
  isLikely: boolean;
}

export const FEATURES = ["bias", "longest run", "weight squared", "weakest clause"] as const;

const COEFFICIENTS: readonly number[] = [-1.5, 1.72, 2.56, 1.34];

/** No search citation that was used for fitting is accepted wrongly from here on, with a margin. */
const LIKELY = 0.8;
/** Of the words that both have, in the same order: in another one they say something else. */
const MIN_ORDERED = 0.75;

/** Undefined in scripts without spaces between words, for which nothing was fitted. */
export function likenessOf(claim: string, page: PageIndex, nearest: readonly number[]): Likeness | undefined {
  const found = compareWords(claim, page, nearest);
  if (found === undefined) return undefined;
  const { features, content, passage } = found;
  const sum = features.reduce((total, value, index) => total + value * (COEFFICIENTS[index] ?? 0), 0);
  const probability = 1 / (1 + Math.exp(-sum));
  const missing = content.filter(({ key }) => !passage.keys.has(key));
  const sentence = page.sentences[passage.at] ?? "";
  const isLikely =
    probability >= LIKELY &&
    alignment(content, passage.words).length >= MIN_ORDERED * (content.length - missing.length) &&
    // `C#` is not `C`, and another name is another subject.
    !missing.some(
      ({ key, start, isCapitalised }) => /[+#]$/.test(key) || (isCapitalised && (start > 0 || !page.small.has(key))),
    ) &&
    !hasOtherNegation(claim, sentence) &&
    !hasOtherDirection(claim, sentence) &&
    !isTakenBack(passage.at, page) &&
    hasFigures(claim, sentence);
  return { probability, passage: passageAround(passage.at, page), isLikely };
}

interface Passage {
  /** Of the sentence in its middle. */
  at: number;
  words: Word[];
  /** Of its words and of those of the page's title. */
  keys: ReadonlySet<string>;
}

/** Exported for the fit. */
export function compareWords(
  claim: string,
  page: PageIndex,
  nearest: readonly number[],
): { features: number[]; content: Word[]; passage: Passage } | undefined {
  const text = readable(claim);
  const words = wordsOf(text);
  const content = words.filter(({ isContent }) => isContent);
  if (content.length < MIN_CONTENT_WORDS || isSpaceless(claim)) return undefined;
  const title = wordsOf(page.sentences[0] ?? "");
  const weightIn = (part: readonly Word[], keys: ReadonlySet<string>): number => {
    const weigh = (some: readonly Word[]): number => some.reduce((sum, { key }) => sum + rarity(key, page), 0);
    return weigh(part.filter(({ key }) => keys.has(key))) / weigh(part);
  };
  const [best] = nearest
    .slice(0, MAX_CANDIDATES)
    .map((at): Passage => {
      const own = wordsOf(page.sentences.slice(Math.max(1, at - AROUND), at + AROUND + 1).join(" "));
      return { at, words: own, keys: new Set([...own, ...title].map(({ key }) => key)) };
    })
    .toSorted((one, other) => weightIn(content, other.keys) - weightIn(content, one.keys));
  if (best === undefined) return undefined;
  const clauses = text.split(CLAUSES).map((clause) => wordsOf(clause).filter(({ isContent }) => isContent));
  const features = [
    1,
    longestRun(words, best.words) / words.length,
    weightIn(content, best.keys) ** 2,
    Math.min(1, ...clauses.filter(({ length }) => length > 1).map((clause) => weightIn(clause, best.keys))),
  ];
  return { features, content, passage: best };
}

/** Shorter claims are compared literally only. */
const MIN_CONTENT_WORDS = 4;

/** Each part of a sentence may be a statement of its own. */
const CLAUSES =
  /[,;:]|(?<!\p{L})(?:and|but|while|which|because|whereas|although|so that|as|when|due to|und|aber|während|weil|et|mais|tandis que|parce que)(?!\p{L})/iu;

/** The number of words of the longest stretch that both have. */
function longestRun(one: readonly Word[], other: readonly Word[]): number {
  let longest = 0;
  let before: number[] = [];
  for (const { key } of one) {
    const runs = other.map((word, at) => (word.key === key ? 1 + (at === 0 ? 0 : (before[at - 1] ?? 0)) : 0));
    longest = Math.max(longest, ...runs);
    before = runs;
  }
  return longest;
}
