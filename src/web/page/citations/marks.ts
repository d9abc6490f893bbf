/** Which claim a citation in the text belongs to, and its verdict beside the text, which stays as it was received. */

import { bySeverity, CELL_SEPARATOR, displayedClaim, saysInstead, verdictLabel } from "../../../claims/evidence.ts";
import type { CitationsView, CitedPairView, ClaimView } from "../../wire.ts";
import { type CitedPlace, citedPlace } from "../report/sentence.ts";
import { verdictShape } from "./verdict.tsx";

/** Again after each check, and after further parts of a long report were loaded. */
export function markCitations(body: HTMLElement, view: CitationsView, numberOf: (shown: number) => number | undefined) {
  for (const citation of body.querySelectorAll<HTMLAnchorElement>(".cite a")) {
    const shown = Number(/\d+/.exec(citation.firstChild?.textContent ?? "")?.[0]);
    const source = numberOf(shown);
    const found = source === undefined ? undefined : pairFor(view, source, citedPlace(citation));
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

/** Undefined if no claim with this source is the sentence, a part of it, or in the row of the table. */
export function pairFor(
  { claims }: Pick<CitationsView, "claims">,
  source: number,
  { sentence = "", row }: CitedPlace,
): FoundPair | undefined {
  const found = claims.flatMap((claim) => {
    const pair = claim.pairs.find((each) => each.source === source);
    return pair === undefined ? [] : [{ claim, pair }];
  });
  if (row !== undefined) {
    const inRow = found.filter(({ claim }) => isInRow(claim, row.cells));
    const ofCell = inRow.filter(({ claim }) => row.at > 0 && hasValue(claim, plain(row.cells[row.at] ?? "")));
    return (ofCell.length > 0 ? ofCell : inRow).toSorted((one, other) => bySeverity(one.pair, other.pair))[0];
  }
  const sought = plain(sentence);
  const isSame = (text: string): boolean =>
    Math.min(text.length, sought.length) >= MIN_SHARED * Math.max(text.length, sought.length) &&
    (text.includes(sought) || sought.includes(text));
  // The label of a list item is a part of the sentence on the page, and not of the claim's text.
  const has = (isIt: (text: string) => boolean) =>
    found.find(({ claim }) => isIt(plain(displayedClaim(claim))) || isIt(plain(claim.text)));
  return has((text) => text === sought) ?? has(isSame);
}

const valuesOf = ({ text }: ClaimView): string[] => text.split(CELL_SEPARATOR).map(plain);

/** A cell is named by the head of its column if others are part of the same claim. */
const hasValue = (claim: ClaimView, cell: string): boolean =>
  cell !== "" && valuesOf(claim).some((value) => value.endsWith(cell));

function isInRow(claim: ClaimView, [head = "", ...cells]: readonly string[]): boolean {
  const known = cells.map(plain).filter((cell) => cell !== "");
  if (head !== "" && plain(claim.context[0] ?? "") !== plain(head)) return false;
  return valuesOf(claim).every((value) => known.some((cell) => value.endsWith(cell)));
}
