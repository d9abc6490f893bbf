/** Compares all claims that cite a page with its text, and finds the passages for a judge; runs in the compare worker. */

import type { PageText } from "../../pages/page.ts";
import { bestPassages } from "../best-passages.ts";
import type { Claim } from "../claim.ts";
import { comparePage, type Comparison } from "../compare-page.ts";

export interface ComparisonJob {
  page: PageText;
  claims: readonly Pick<Claim, "text" | "context" | "headings">[];
  /** The number of passages for each claim that the text does not support. */
  passages: number;
}

export interface ComparedClaim {
  comparison: Comparison;
  /** The passages nearest to the claim, best first. */
  passages: string[];
}

/** In the order of the claims. */
export const compareClaims = ({ page, claims, passages }: ComparisonJob): ComparedClaim[] =>
  claims.map((claim) => {
    const comparison = comparePage(claim, page);
    const isOpen = comparison.verdict !== "supported" && passages > 0;
    return { comparison, passages: isOpen ? bestPassages(claim, page, passages) : [] };
  });
