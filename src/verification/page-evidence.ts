/** What a cited page says about the claims that cite it: by comparing texts, then by a judge. */

import type { Claim, Evidence } from "../claims/evidence.ts";
import { compareClaims } from "../claims/compare-page.ts";
import type { PageReading } from "../pages/page.ts";
import type { FormerCheck } from "./evidence-store.ts";
import { isOpen, type Judge, type Judgements, type JudgeLimits, type Probabilities } from "./judge/judge-port.ts";
import { withJudgement } from "./judge/judge.ts";
import { checkOf } from "./page-check.ts";

const MAX_PASSAGE_CHARACTERS = 600;
const MAX_REASON_CHARACTERS = 300;

export interface ComparisonDeps {
  /** Undefined: pages are compared with claims without a model. */
  judge?: Judge | undefined;
}

interface ClaimsOfSource {
  taskId: string;
  source: number;
  claims: readonly Claim[];
  former: FormerCheck | undefined;
  limits: JudgeLimits;
}

export async function evidenceOf(
  { judge }: ComparisonDeps,
  reading: PageReading,
  { taskId, source, claims, former, limits }: ClaimsOfSource,
): Promise<{ evidence: Evidence[] } & Omit<Judgements, "judged" | "unjudged">> {
  if (reading.outcome !== "text") {
    const { reason } = checkOf(source, reading);
    const verdict = reading.outcome;
    const evidence = claims.map(({ n }) => bounded({ claim: n, source, kind: "page", verdict, reason }));
    return { evidence, isComplete: true, isRefused: false };
  }
  const { page, hash } = reading;
  const found = await compareClaims({ page, claims }, limits.signal);
  const compared = claims.map((claim, index) => ({
    claim,
    evidence: bounded({ claim: claim.n, source, kind: "page", verdict: "not_found", ...found[index] }),
  }));
  // A judgement of the same text is kept, and not paid for again.
  const known: Probabilities = former?.hash !== undefined && former.hash === hash ? former.judged : new Map();
  const open = compared.filter(({ evidence }) => isOpen(evidence.verdict));
  const asked = open
    .filter(({ claim }) => !known.has(claim.n))
    .map(({ claim, evidence: { passage } }) => ({ ...claim, passage }));
  const { judged, isComplete, isRefused } =
    judge === undefined || asked.length === 0
      ? { judged: known, isComplete: true, isRefused: false }
      : await judge.judge({ taskId, page, claims: asked }, limits);
  const probabilities = new Map([...known, ...judged]);
  const evidence = compared.map(({ claim, evidence: text }) =>
    isOpen(text.verdict) && probabilities.has(claim.n) ? withJudgement(text, probabilities.get(claim.n)) : text,
  );
  return { evidence, isComplete, isRefused };
}

const bounded = ({ passage, reason, ...evidence }: Evidence): Evidence => ({
  ...evidence,
  passage: cut(passage, MAX_PASSAGE_CHARACTERS),
  reason: cut(reason, MAX_REASON_CHARACTERS),
});

const cut = (text: string | undefined, max: number): string | undefined =>
  text === undefined || text.length <= max ? text : `${text.slice(0, max).toWellFormed()}…`;
