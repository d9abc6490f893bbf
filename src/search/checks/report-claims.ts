/** The claims of a round's report, with every page that it links as a source. */

import type { Claim } from "../../claims/claim.ts";
import { splitClaims } from "../../claims/split-claims.ts";
import type { VisitedSource } from "../../gemini/search-backend.ts";
import { linkedSources } from "../../reports/document/document.ts";
import { numberSources, type Source } from "../../reports/report.ts";

export interface ReportClaims {
  claims: Claim[];
  /** The visited pages and then those that the report links although no tool reported them. */
  sources: Source[];
}

export function claimsOf(report: string, visited: readonly VisitedSource[]): ReportClaims {
  const sources = numberSources([...visited, ...linkedSources(report)]);
  return { claims: splitClaims({ report, sources }), sources };
}

/** A claim as a reader understands it alone: with the heads of its table row or the label of its list item. */
export const claimText = ({ context, text }: Claim): string => [...context, text].join(": ");

/** Equal for a claim that an update of the report left unchanged, apart from its citations. */
export const claimKey = (claim: Claim): string => keyOf(claimText(claim));

export const keyOf = (text: string): string =>
  text
    .replaceAll(/[^\p{L}\p{N}.,%-]+/gu, " ")
    .trim()
    .toLowerCase();

/** The answer usually opens the report, under its title. */
const OPENING_CLAIMS = 5;

/** A claim without which the answer falls: it has a figure or a date, or it is cited and opens the report. */
export function isLoadBearing(claim: Claim, claims: readonly Claim[]): boolean {
  if (/\p{N}/u.test(claim.text)) return true;
  const isOpening = claims.indexOf(claim) < OPENING_CLAIMS && claim.headings.length <= 1;
  return isOpening && claim.sources.length > 0;
}
