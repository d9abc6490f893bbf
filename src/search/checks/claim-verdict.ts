/** Which finding of which round counts for a claim of the current report. */

import type { Claim } from "../../claims/claim.ts";
import type { Verdict } from "../../claims/evidence.ts";
import type { Source } from "../../reports/report.ts";
import type { Finding } from "./finding.ts";
import { isPageOf } from "./pages.ts";
import { claimKey } from "./report-claims.ts";

/** A contradiction counts more than support by another page: readers must see that the sources disagree. */
const ORDER: readonly Verdict[] = ["contradicted", "supported", "weak", "unsupported", "not_confirmed", "unreadable"];

/** The finding that counts for a claim of the current report: of each page it cites the latest, and of these the strongest. */
export function verdictOn(claim: Claim, sources: readonly Source[], findings: readonly Finding[]): Finding | undefined {
  const key = claimKey(claim);
  const latest = new Map<string, Finding>();
  for (const finding of findings) {
    if (finding.claim === key && citedSource(claim, sources, finding.url) !== undefined)
      latest.set(finding.url, finding);
  }
  return [...latest.values()].toSorted((one, other) => ORDER.indexOf(one.verdict) - ORDER.indexOf(other.verdict))[0];
}

/** The source of the claim that this URL belongs to. */
export const citedSource = (claim: Claim, sources: readonly Source[], url: string): Source | undefined =>
  sources.find((source) => claim.sources.includes(source.n) && isPageOf(source, url));
