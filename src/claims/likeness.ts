/**
 * How likely a page says what a claim says, from what their words have in common: a logistic function of a few features
 * of the surface. Its coefficients are fitted by `bench/claims/fit.ts` on public collections that people have labelled.
 */

import { hasFigures } from "./conflict.ts";
import { hasOtherDirection, hasOtherNegation, isOverstated } from "./language.ts";
import { type PageIndex, rarity, readable } from "./page-index.ts";
import { type Word, wordsOf } from "./words.ts";

/** Sentences around which a passage is looked for. */
const MAX_CANDIDATES = 4;
/** Sentences of a passage before and after the nearest one. */
const AROUND = 1;

export interface Likeness {
  probability: number;
  /** The sentences that were compared. */
  passage: string;
  isLikely: boolean;
}

export const FEATURES = [
  "bias",
  "passage",
  "sentence",
  "page",
  "missing words",
  "missing figures",
  "missing figures on the page",
  "missing names",
  "pairs",
  "longest run",
  "negation",
  "direction",
  "length",
  "passage²",
  "unsaid",
  "longest gap",
  "order",
] as const;

const COEFFICIENTS: readonly number[] = [
  0.8, -0.11, 0.51, -0.21, -1.05, 0.32, -1.85, -0.5, 1.09, 1.18, 0.15, -1.04, -0.18, 1.2, -0.31, -1.13, -0.07,
];

/** The lowest at which no search citation that was used for fitting is accepted wrongly; docs/decisions/0029 has the others. */
const LIKELY = 0.82;
/** Of the words that both have, in the same order: in another one they say something else. */
const MIN_ORDERED = 0.8;

/** Undefined in scripts without spaces between words, for which nothing was fitted. */
export function likenessOf(claim: string, page: PageIndex, nearest: readonly number[]): Likeness | undefined {
  const found = featuresOf(claim, page, nearest);
  if (found === undefined) return undefined;
  const { features, passage, sentence, isMissingSign } = found;
  const sum = features.reduce((total, value, index) => total + value * (COEFFICIENTS[index] ?? 0), 0);
  const probability = 1 / (1 + Math.exp(-sum));
  const isLikely =
    probability >= LIKELY &&
    (features[FEATURES.indexOf("order")] ?? 0) >= MIN_ORDERED &&
    !hasOtherNegation(claim, sentence) &&
    !hasOtherDirection(claim, sentence) &&
    !isMissingSign &&
    !isOverstated(claim, { sentence, passage }) &&
    hasFigures(claim, sentence);
  return { probability, passage, isLikely };
}

interface Weighted extends Word {
  weight: number;
}

/** Exported for the fit. */
export function featuresOf(
  claim: string,
  page: PageIndex,
  nearest: readonly number[],
): { features: number[]; passage: string; sentence: string; isMissingSign: boolean } | undefined {
  const words = wordsOf(readable(claim));
  const content: Weighted[] = words
    .filter(({ isContent }) => isContent)
    .map((word) => ({ ...word, weight: rarity(word.key, page) }));
  if (nearest.length === 0 || content.length < MIN_CONTENT_WORDS || SPACELESS.test(claim)) return undefined;
  const title = wordsOf(page.sentences[0] ?? "");
  const stated = nearest.filter((at) => !/\?["'”’»)]?$/u.test(page.sentences[at] ?? ""));
  const passages = stated.slice(0, MAX_CANDIDATES).map((at) => {
    const from = Math.max(1, at - AROUND);
    const sentences = page.sentences.slice(from, at + AROUND + 1);
    const text = sentences.join(" ");
    const own = wordsOf(text);
    const keys = new Set([...own, ...title].map(({ key }) => key));
    return {
      text,
      own,
      keys,
      share: shareOf(content, keys),
      sentence: wordsOf(page.sentences[at] ?? ""),
      nearest: page.sentences[at] ?? "",
    };
  });
  const [best] = passages.toSorted((one, other) => other.share - one.share);
  if (best === undefined) return undefined;
  const sentences = passages.map(({ sentence }) => shareOf(content, new Set(sentence.map(({ key }) => key))));
  const missing = content.filter(({ key }) => !best.keys.has(key));
  const figures = content.filter(({ key }) => /^\d/.test(key));
  const names = content.filter(({ isCapitalised, start }) => isCapitalised && start > 0);
  const shares = {
    figures: part(missing.filter(({ key }) => /^\d/.test(key)).length, figures.length),
    unknownFigures: part(figures.filter(({ key }) => !page.words.has(key)).length, figures.length),
    names: part(missing.filter((word) => names.includes(word)).length, names.length),
  };
  const features = [
    1,
    best.share,
    Math.max(...sentences),
    part(content.filter(({ key }) => page.words.has(key)).length, content.length),
    missing.length / content.length,
    shares.figures,
    shares.unknownFigures,
    shares.names,
    pairShare(content, best.own),
    longestRun(words, best.own) / words.length,
    hasOtherNegation(claim, best.nearest) ? 1 : 0,
    hasOtherDirection(claim, best.nearest) ? 1 : 0,
    Math.log(content.length),
    best.share ** 2,
    part(best.own.filter(({ isContent }) => isContent).length, 3 * content.length),
    longestGap(content, best.keys) / content.length,
    part(commonLength(content, best.own), content.length - missing.length),
  ];
  // `C#` is not `C`.
  const isMissingSign = missing.some(({ key }) => /[+#]$/.test(key));
  return { features, isMissingSign, passage: best.text, sentence: page.sentences[stated[0] ?? 0] ?? "" };
}

/** Shorter claims are compared literally only. */
const MIN_CONTENT_WORDS = 4;

const SPACELESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

const part = (count: number, of: number): number => (of === 0 ? 0 : Math.min(1, count / of));

function shareOf(content: readonly Weighted[], keys: ReadonlySet<string>): number {
  let [all, found] = [0, 0];
  for (const { key, weight } of content) {
    all += weight;
    if (keys.has(key)) found += weight;
  }
  return all === 0 ? 0 : found / all;
}

/** Words that may lie between two words that follow each other in the claim. */
const MAX_GAP = 3;

/** The share of neighbouring words of the claim that are neighbours in the passage, in the same order. */
function pairShare(content: readonly Word[], passage: readonly Word[]): number {
  const said = passage.filter(({ isContent }) => isContent).map(({ key }) => key);
  const places = Map.groupBy(said.keys(), (at) => said[at] ?? "");
  let found = 0;
  for (const [index, { key }] of content.slice(1).entries()) {
    const before = places.get(content[index]?.key ?? "") ?? [];
    const after = places.get(key) ?? [];
    if (before.some((at) => after.some((next) => next > at && next <= at + MAX_GAP))) found += 1;
  }
  return found / (content.length - 1);
}

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

/** The largest number of neighbouring words of the claim that the passage lacks: a statement that it does not make. */
function longestGap(content: readonly Word[], keys: ReadonlySet<string>): number {
  let [longest, current] = [0, 0];
  for (const { key } of content) {
    current = keys.has(key) ? 0 : current + 1;
    longest = Math.max(longest, current);
  }
  return longest;
}

/** The largest number of words that both have in the same order. */
function commonLength(one: readonly Word[], other: readonly Word[]): number {
  let before: number[] = other.map(() => 0);
  for (const { key } of one) {
    const row: number[] = [];
    for (const [at, word] of other.entries()) {
      const same = word.key === key ? 1 + (before[at - 1] ?? 0) : 0;
      row.push(Math.max(same, before[at] ?? 0, row[at - 1] ?? 0));
    }
    before = row;
  }
  return before.at(-1) ?? 0;
}
