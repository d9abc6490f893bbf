/** Everything that is known about the citations of a report, read from the store without a request. */

import { bySeverity, displayedClaim, saysInstead, type Verdict, verdictLabel } from "../claims/evidence.ts";
import { independentDomains } from "../reports/independent-domains.ts";
import type { Source } from "../reports/report.ts";
import { claimsOfRun, type ClaimsDeps, type ReportOfRun } from "./claims-of-run.ts";
import { copiesAmong } from "./copies.ts";
import { findEvidence, findPageChecks } from "./evidence-store.ts";
import { isReached, type PageCheck } from "./page-check.ts";
import { type ClaimStanding, countsOf, standings, type VerdictCounts } from "./standing.ts";

export interface Citations {
  claims: ClaimStanding[];
  counts: VerdictCounts;
  /** By number of the source. */
  checks: ReadonlyMap<number, PageCheck>;
  /** Sources that a claim cites. */
  cited: Source[];
  /** Groups of sources with the same text. */
  copies: number[][];
  /** Empty after a check that reached no page: it says nothing about any site. */
  independentDomains: string[];
}

export async function readCitations(deps: ClaimsDeps, run: ReportOfRun): Promise<Citations> {
  const { claims } = await claimsOfRun(deps, run);
  const all = standings(claims, await findEvidence(deps.db, run.taskId));
  const checks = await findPageChecks(deps.db, run.taskId);
  const numbers = new Set(claims.flatMap(({ sources }) => sources));
  const cited = run.result.sources.filter(({ n }) => numbers.has(n));
  return {
    claims: all,
    counts: countsOf(all),
    checks,
    cited,
    copies: copiesAmong([...checks.values()]),
    independentDomains: checks.size > 0 && ![...checks.values()].some(isReached) ? [] : independentDomains(cited),
  };
}

// The verdicts as rows, for the table of a saved file.

export interface VerdictRow {
  verdict: Verdict;
  /** In words: `conflict`, `not found`. */
  label: string;
  sentence: string;
  /** Number of the source. */
  source: number;
  /** What the page says instead, or why there is no verdict; empty where the verdict says it all. */
  note: string;
  /** The passage of the page that is closest to the sentence; text from the web. */
  passage: string;
}

/** A row for each sentence and source that was checked, conflicts first; empty if nothing was. */
export const verdictRows = ({ claims }: Pick<Citations, "claims">): VerdictRow[] =>
  claims
    .flatMap(({ claim, pairs }) => pairs.map((pair) => ({ claim, pair })))
    .filter(({ pair }) => pair.checkedAt !== undefined)
    .toSorted((one, other) => bySeverity(one.pair, other.pair))
    .map(({ claim, pair: { source, verdict, pageSays, reason, passage = "" } }) => ({
      verdict,
      label: verdictLabel(verdict),
      sentence: displayedClaim(claim),
      source,
      note: saysInstead(pageSays) ?? reason ?? "",
      passage,
    }));
