/** How many claims of the final report were confirmed, and what a reader must know about the others. */

import { type Claim, type Evidence, uncitedClaims, type Verdict } from "../../claims/evidence.ts";
import type { VisitedSource } from "../../gemini/search-backend.ts";
import { independentDomains } from "../../reports/independent-domains.ts";
import type { Source } from "../../reports/report.ts";
import type { Verification, VerificationMethod } from "../../reports/verification.ts";
import { splitClaims } from "../../claims/split-claims.ts";
import { citedSource, claimKey, claimsOf, claimText, isLoadBearing, verdictOn } from "./report-claims.ts";
import type { Finding } from "./check.ts";

export interface VerifiedReport {
  report: string;
  visited: readonly VisitedSource[];
  findings: readonly Finding[];
  method: VerificationMethod;
}

type Bucket = "likely" | "conflict" | "not_found" | "unreadable" | "uncited";

const BUCKETS: Partial<Record<Verdict, Bucket>> = { likely: "likely", conflict: "conflict", unreadable: "unreadable" };

interface Counted {
  claim: Claim;
  /** Undefined for a claim without a mark in a section that has some. */
  bucket: Bucket | undefined;
  /** The page that supports it. */
  page: Source | undefined;
}

/** The counts, and the claims that carry the answer without being supported. */
export function verificationOf({ report, visited, findings, method }: VerifiedReport): {
  verification: Verification;
  open: string[];
} {
  const { claims, sources } = claimsOf(report, visited);
  const uncited = uncitedClaims(claims);
  const counted = claims.map((claim): Counted => {
    const found = verdictOn(claim, sources, findings);
    const cited = claim.sources.length === 0 ? undefined : (BUCKETS[found?.verdict ?? "not_checked"] ?? "not_found");
    const bucket = uncited.has(claim) ? "uncited" : cited;
    const page = found?.verdict === "likely" ? citedSource(claim, sources, found.url) : undefined;
    return { claim, bucket, page };
  });
  const count = (name: Bucket): number => counted.filter(({ bucket }) => bucket === name).length;
  const open = counted.filter(({ claim, bucket }) => bucket !== "likely" && isLoadBearing(claim, claims));
  return {
    verification: {
      method,
      claims: counted.filter(({ bucket }) => bucket !== undefined).length,
      likely: count("likely"),
      conflict: count("conflict"),
      not_found: count("not_found"),
      unreadable: count("unreadable"),
      uncited: count("uncited"),
      independent_domains: independentDomains(counted.flatMap(({ page }) => page ?? [])).length,
    },
    open: open.map(({ claim }) => claimText(claim)),
  };
}

/** The findings as evidence about the stored report, by the numbers of its claims and sources. */
export function evidenceOf(report: string, sources: Source[], findings: readonly Finding[]): Evidence[] {
  return splitClaims({ report, sources }).flatMap((claim) => {
    const key = claimKey(claim);
    const bySource = new Map<number, Evidence>();
    for (const { claim: found, url, verdict, reason, quote, says } of findings) {
      const source = found === key ? citedSource(claim, sources, url)?.n : undefined;
      if (source !== undefined) {
        bySource.set(source, { claim: claim.n, source, kind: "read", verdict, reason, passage: quote, pageSays: says });
      }
    }
    return [...bySource.values()];
  });
}
