/**
 * Finds the words of a claim in a sentence of its page, in their order. Words of the page between them are allowed only
 * where leaving them out does not change what is said.
 */

import type { Quantity } from "../language/quantities.ts";
import { includesDate } from "../language/dates.ts";
import { isContent, type Token } from "../language/tokens.ts";
import { createGapCheck, type PageWords } from "./gaps.ts";

export interface Alignment {
  /** For each token of the claim, the index of its match in the page's sentence. */
  matched: number[];
}

/** Sentences of pages without punctuation. */
const MAX_TOKENS = 250;
/** No real sentence repeats a word more often. */
const MAX_POSITIONS = 10;

export function matches(claim: Token, page: Token): boolean {
  if (claim.kind !== page.kind) return false;
  if (claim.quantity !== undefined && page.quantity !== undefined) {
    return sameAmount(claim.quantity, page.quantity);
  }
  if (claim.date !== undefined && page.date !== undefined) return includesDate(page.date, claim.date);
  return claim.key === page.key;
}

/** Rounding by more than this is another figure, whatever `about` may mean. */
const MAX_ROUNDING = 0.03;

/** A claim may round with `about`; it may not be more precise than its page. */
export function sameAmount(claim: Quantity, page: Quantity): boolean {
  if (claim.unit !== page.unit) return false;
  if (Math.abs(claim.value - page.value) <= Math.abs(claim.value) * 1e-9) {
    return page.approximation === undefined || page.approximation === claim.approximation;
  }
  if (claim.approximation === undefined || page.approximation !== undefined) return false;
  if (claim.approximation === "nearly" && page.value > claim.value) return false;
  return Math.abs(claim.value - page.value) <= Math.abs(page.value) * MAX_ROUNDING;
}

/** Where each token of the claim is in the sentence; undefined if one is missing. */
function positionsOf(claim: readonly Token[], sentence: readonly Token[]): number[][] | undefined {
  const content = [...sentence.entries()].filter(([, token]) => isContent(token));
  // Words are found by their key: hostile text repeats a few words in claims and sentences of hundreds.
  const words = Map.groupBy(content, ([, token]) => token.key);
  const positions: number[][] = [];
  for (const token of claim) {
    const isWord = token.quantity === undefined && token.date === undefined;
    const candidates = isWord ? (words.get(token.key) ?? []) : content;
    const found = candidates.filter(([, candidate]) => matches(token, candidate)).slice(0, MAX_POSITIONS);
    if (found.length === 0) return undefined;
    positions.push(found.map(([at]) => at));
  }
  return positions;
}

/** Content words of the claim, in order, to positions of the sentence. Undefined if there is no such alignment. */
export function align(claim: readonly Token[], sentence: readonly Token[], page: PageWords): Alignment | undefined {
  if (claim.length === 0 || sentence.length > MAX_TOKENS) return undefined;
  const positions = positionsOf(claim, sentence);
  if (positions === undefined) return undefined;
  const fits = createGapCheck(sentence, page);
  // Backwards, so that each position knows whether the rest can follow.
  const next: Map<number, number>[] = [];
  for (let index = claim.length - 1; index >= 0; index -= 1) {
    const following = next[index + 1];
    const sorted = [...(following?.keys() ?? [])].toSorted((a, b) => a - b);
    const reachable = new Map<number, number>();
    for (const at of positions[index] ?? []) {
      if (following === undefined) reachable.set(at, -1);
      else {
        const to = sorted.find((then) => then > at && fits(at, then));
        if (to !== undefined) reachable.set(at, to);
      }
    }
    if (reachable.size === 0) return undefined;
    next[index] = reachable;
  }
  const matched: number[] = [];
  let at = Math.min(...(next[0]?.keys() ?? []));
  for (const reachable of next) {
    matched.push(at);
    at = reachable.get(at) ?? -1;
  }
  return { matched };
}
