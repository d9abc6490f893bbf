/** Which claim a citation in the text belongs to, and its verdict beside the text, which stays as it was received. */

import { saysInstead, verdictLabel } from "../../../claims/evidence.ts";
import type { CitationsView, CitedPairView, ClaimView } from "../../wire.ts";
import { citedSentence } from "../report/sentence.ts";
import { verdictShape } from "./verdict.tsx";

/** Again after each check, and after further parts of a long report were loaded. */
export function markCitations(body: HTMLElement, view: CitationsView, numberOf: (shown: number) => number | undefined) {
  for (const citation of body.querySelectorAll<HTMLAnchorElement>(".cite a")) {
    const shown = Number(/\d+/.exec(citation.firstChild?.textContent ?? "")?.[0]);
    const source = numberOf(shown);
    const found = source === undefined ? undefined : pairFor(view, source, citedSentence(citation));
    const verdict = found?.pair.verdict;
    if (verdict === undefined || verdict === "not_checked") {
      delete citation.dataset["verdict"];
      delete citation.dataset["shape"];
      continue;
    }
    citation.dataset["verdict"] = verdict;
    citation.dataset["shape"] = verdictShape(verdict);
    citation.title = saysInstead(found?.pair.page_says) ?? verdictLabel(verdict);
  }
}

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
