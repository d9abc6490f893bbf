/** What a cited page says about the claims that cite it: by comparing texts, then by a judge. */

import type { Claim, Evidence } from "../claims/evidence.ts";
import { compareClaims } from "../claims/compare-page.ts";
import type { PageReading } from "../pages/page.ts";
import { type FormerCheck, isSameText } from "./evidence-store.ts";
import { type Judge, type JudgeLimits, type Judgements, MAX_PASSAGES } from "./judge/judge-port.ts";
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
): Promise<Judgements> {
  if (reading.outcome !== "text") {
    const { reason } = checkOf(source, reading);
    const verdict = reading.outcome;
    const evidence = claims.map(({ n }) => bounded({ claim: n, source, kind: "page", verdict, reason }));
    return { evidence, isComplete: true };
  }
  const { page } = reading;
  const passages = judge === undefined ? 0 : MAX_PASSAGES;
  const found = await compareClaims({ page, claims, passages }, limits.signal);
  const compared = claims.map((claim, index) => ({
    claim: { ...claim, passages: found[index]?.passages ?? [] },
    evidence: bounded({ claim: claim.n, source, kind: "page", verdict: "not_found", ...found[index]?.comparison }),
  }));
  // A judgement of the same text is kept, and not paid for again.
  const known = former !== undefined && isSameText(former, reading) ? former.judgedClaims : [];
  const open = compared
    .filter(({ claim, evidence }) => evidence.verdict !== "confirmed" && !known.includes(claim.n))
    .map(({ claim }) => claim);
  const judgements =
    judge === undefined || open.length === 0
      ? { evidence: [], isComplete: true }
      : await judge.judge({ taskId, source, page, claims: open }, limits);
  const judged = new Map(judgements.evidence.map((each) => [each.claim, each]));
  const evidence = compared.map(({ claim, evidence: text }) => bounded(judged.get(claim.n) ?? text));
  return { evidence, isComplete: judgements.isComplete };
}

const bounded = ({ passage, reason, ...evidence }: Evidence): Evidence => ({
  ...evidence,
  passage: cut(passage, MAX_PASSAGE_CHARACTERS),
  reason: cut(reason, MAX_REASON_CHARACTERS),
});

const cut = (text: string | undefined, max: number): string | undefined =>
  text === undefined || text.length <= max ? text : `${text.slice(0, max).toWellFormed()}…`;
