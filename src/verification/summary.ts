/** A short summary of what the checks of a run's citations found, for answers that contain its report. */

import type { Verdict } from "../claims/evidence.ts";
import type { Database } from "../store/database.ts";
import { hasClaimsOf } from "./claim-store.ts";
import { reportHashOf } from "./claims-of-run.ts";
import { findEvidence } from "./evidence-store.ts";
import { bestVerdict, countVerdicts } from "./standing.ts";

/** Cited claims with evidence, by their best verdict. */
export type CitationsSummary = { claims: number } & Partial<Record<Verdict, number>>;

/** Undefined if nothing was checked. Splits no report. */
export async function summariseCitations(
  db: Database,
  { taskId, report }: { taskId: string; report: string },
): Promise<CitationsSummary | undefined> {
  const evidence = await findEvidence(db, taskId);
  if (evidence.length === 0 || !(await hasClaimsOf(db, taskId, reportHashOf(report)))) return undefined;
  const byClaim = Map.groupBy(evidence, ({ claim }) => claim);
  const verdicts = [...byClaim.values()].map((found) => bestVerdict(found.map(({ verdict }) => verdict)));
  return { claims: verdicts.length, ...countVerdicts(verdicts) };
}
