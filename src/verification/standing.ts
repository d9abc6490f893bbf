/** What all evidence together says about each claim of a report, and how many claims have which verdict. */

import {
  type Claim,
  displayedClaim,
  type Evidence,
  type EvidenceKind,
  isCheckable,
  uncitedClaims,
  type Verdict,
  VERDICTS,
} from "../claims/evidence.ts";
import type { Database } from "../store/database.ts";
import { findClaims } from "./claim-store.ts";
import { reportHashOf } from "./claims-of-run.ts";
import { type DatedEvidence, findEvidence } from "./evidence-store.ts";

/**
 * A claim has the best verdict of its sources: one page that says it is enough, unless another one contradicts it.
 */
const INFORMATIVE: readonly string[] =
  "conflict confirmed likely not_found unreadable gone unreachable not_checked".split(" ");
const rank = (verdict: Verdict): number => INFORMATIVE.indexOf(verdict);

const bestVerdict = (verdicts: readonly Verdict[]): Verdict =>
  verdicts.toSorted((one, other) => rank(one) - rank(other))[0] ?? "not_checked";

/** A claim and one of its sources. */
export interface CitedPair extends Omit<Evidence, "kind"> {
  kind: EvidenceKind | undefined;
  /** Google's supports or annotations attach the source to the claim. */
  byGoogle: boolean;
  checkedAt: number | undefined;
}

export interface ClaimStanding {
  claim: Claim;
  /** Undefined for a claim that cites no source. */
  verdict: Verdict | undefined;
  pairs: CitedPair[];
}

/** Every claim that can be checked, with its sources; those without evidence are not checked. */
export function standings(claims: readonly Claim[], evidence: readonly DatedEvidence[]): ClaimStanding[] {
  const byPair = Map.groupBy(evidence, ({ claim, source }) => `${claim} ${source}`);
  return claims.filter(isCheckable).map((claim) => {
    const pairs = claim.sources.map((source) => pairOf(claim, source, byPair.get(`${claim.n} ${source}`) ?? []));
    return { claim, pairs, verdict: pairs.length === 0 ? undefined : bestVerdict(pairs.map(({ verdict }) => verdict)) };
  });
}

function pairOf(claim: Claim, source: number, found: readonly DatedEvidence[]): CitedPair {
  const byGoogle = claim.googleSources.includes(source);
  const decided = decisive(found);
  if (decided !== undefined) return { ...decided, byGoogle };
  return { claim: claim.n, source, kind: undefined, verdict: "not_checked", byGoogle, checkedAt: undefined };
}

/** What this program found on the page counts more than what a model quoted from it. */
const decisive = (found: readonly DatedEvidence[]): DatedEvidence | undefined =>
  found.find(({ kind, verdict }) => kind === "page" && SAID.includes(verdict)) ??
  found.toSorted((one, other) => rank(one.verdict) - rank(other.verdict))[0];

const SAID: readonly Verdict[] = ["confirmed", "likely", "conflict"];

export type VerdictCounts = { claims: number; uncited: number } & Partial<Record<Verdict, number>>;

/** Verdicts that no claim has are left out. */
export function countsOf(all: readonly ClaimStanding[]): VerdictCounts {
  const counts = countVerdicts(all.flatMap(({ verdict }) => verdict ?? []));
  return { claims: all.length, uncited: uncitedClaims(all.map(({ claim }) => claim)).size, ...counts };
}

function countVerdicts(verdicts: readonly Verdict[]): Partial<Record<Verdict, number>> {
  const found = VERDICTS.map((verdict) => [verdict, verdicts.filter((each) => each === verdict).length] as const);
  return Object.fromEntries(found.filter(([, count]) => count > 0));
}

// A short summary of what the checks of a run's citations found, for answers that contain its report.

/** Cited claims with evidence, by their best verdict, and the first of those that a page contradicts. */
export type CitationsSummary = { claims: number; conflicts?: ConflictFound[] } & Partial<Record<Verdict, number>>;

interface ConflictFound {
  text: string;
  source: number;
  page_says?: string | undefined;
  passage?: string | undefined;
}

const MAX_CONFLICTS = 5;
const MAX_CONFLICT_CHARACTERS = 300;

/** Undefined if nothing was checked. Splits no report. */
export async function summariseCitations(
  db: Database,
  { taskId, report }: { taskId: string; report: string },
): Promise<CitationsSummary | undefined> {
  const evidence = await findEvidence(db, taskId);
  const claims = evidence.length === 0 ? undefined : await findClaims(db, taskId, reportHashOf(report));
  if (claims === undefined) return undefined;
  const checked = standings(claims, evidence).filter(({ pairs }) => pairs.some(({ kind }) => kind !== undefined));
  const cut = (text: string): string => text.slice(0, MAX_CONFLICT_CHARACTERS).toWellFormed();
  const conflicts = checked.flatMap(({ claim, pairs }) =>
    pairs
      .filter(({ verdict }) => verdict === "conflict")
      .map(({ source, pageSays, passage = "" }): ConflictFound => {
        const text = cut(displayedClaim(claim));
        return { text, source, page_says: pageSays, passage: cut(passage) || undefined };
      }),
  );
  return {
    claims: checked.length,
    ...countVerdicts(checked.flatMap(({ verdict }) => verdict ?? [])),
    ...(conflicts.length === 0 ? {} : { conflicts: conflicts.slice(0, MAX_CONFLICTS) }),
  };
}
