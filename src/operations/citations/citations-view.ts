/** The citations of a report for the page: every cited claim with its verdicts, and the health of every link; and its sources as a bibliography file. */

import { isoTime } from "../../platform/clock.ts";
import { linkExpiry } from "../../reports/link-expiry.ts";
import type { Source } from "../../reports/report.ts";
import type { PageCheck } from "../../verification/page-check.ts";
import type { ClaimStanding } from "../../verification/standing.ts";
import type { OperationDeps } from "../operation.ts";
import { readJudgeUse } from "./judge-use.ts";
import { finishedReport } from "../parts/after-failure.ts";
import { bibliography } from "../../reports/bibliography/bibliography.ts";
import type { BibliographyFormat } from "../../reports/bibliography/bibliography-formats.ts";
import type { Run, StoredResult } from "../../runs/run.ts";
import type { Database } from "../../store/database.ts";
import { findPageChecks } from "../../verification/evidence-store.ts";

export async function citationsView(deps: OperationDeps, owner: string, taskId: string) {
  const db = await deps.database();
  const { run, result } = await finishedReport(db, owner, taskId);
  const { readCitations } = await import("../../verification/read-citations.ts");
  const found = await readCitations({ db, log: deps.log }, { taskId, result });
  const cited = new Set(found.cited.map(({ n }) => n));
  const endedAt = run.completedAt ?? run.updatedAt;
  return {
    counts: found.counts,
    independent_domains: found.independentDomains.length,
    copies: found.copies,
    sources: result.sources.map((source) =>
      sourceView(source, { check: found.checks.get(source.n), isCited: cited.has(source.n), endedAt }),
    ),
    claims: found.claims.filter(({ verdict }) => verdict !== undefined).map(claimView),
    judge_max_usd: deps.settings.judgeMaxUsd,
    judge: await readJudgeUse(db, taskId, deps.settings),
  };
}

function sourceView(
  source: Source,
  { check, isCited, endedAt }: { check: PageCheck | undefined; isCited: boolean; endedAt: number },
) {
  return {
    n: source.n,
    title: source.title,
    is_cited: isCited,
    link_expires: linkExpiry(source, endedAt),
    ...(check === undefined
      ? {}
      : {
          outcome: check.outcome,
          reason: check.reason,
          checked_at: isoTime(check.checkedAt),
          http_status: check.httpStatus,
          published: check.date,
          author: check.author,
        }),
  };
}

const claimView = ({ claim, verdict, pairs }: ClaimStanding) => ({
  n: claim.n,
  text: claim.text,
  context: claim.context,
  verdict: verdict ?? "not_checked",
  pairs: pairs.map(
    ({ source, verdict: found, kind, reason, passage, pageSays, probability, judged, byGoogle, checkedAt }) => ({
      source,
      verdict: found,
      kind,
      reason,
      passage,
      page_says: pageSays,
      probability,
      judged: judged === true ? true : undefined,
      by_google: byGoogle ? true : undefined,
      checked_at: checkedAt === undefined ? undefined : isoTime(checkedAt),
    }),
  ),
});

export async function sourcesFile(
  db: Database,
  { run, result }: { run: Run; result: StoredResult },
  format: BibliographyFormat,
): Promise<string> {
  const { taskId, completedAt, updatedAt } = run;
  const pages = await findPageChecks(db, taskId);
  return bibliography({ taskId, sources: result.sources, pages, at: completedAt ?? updatedAt }, format);
}
