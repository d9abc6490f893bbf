/** Finds the claim that a citation in the text belongs to. */

import type { CitationsView, CitedPairView, ClaimView } from "../../wire-citations.ts";

/** Without marks, emphasis and spaces, which the page and the report write differently. */
const plain = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");

/** Of the longer text: less would match other sentences, too. */
const MIN_SHARED = 0.6;

export interface FoundPair {
  claim: ClaimView;
  pair: CitedPairView;
}

/** Undefined if no claim with this source is the sentence, or a part of it. */
export function pairFor(
  { claims }: Pick<CitationsView, "claims">,
  source: number,
  sentence: string | undefined,
): FoundPair | undefined {
  const sought = plain(sentence ?? "");
  const found = claims.flatMap((claim) => {
    const pair = claim.pairs.find((each) => each.source === source);
    return pair === undefined ? [] : [{ claim, pair, text: plain(claim.text) }];
  });
  const isSame = (text: string): boolean =>
    Math.min(text.length, sought.length) >= MIN_SHARED * Math.max(text.length, sought.length) &&
    (text.includes(sought) || sought.includes(text));
  return found.find(({ text }) => text === sought) ?? found.find(({ text }) => isSame(text));
}
