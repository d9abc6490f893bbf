/** Stores what the rounds of a search found out about single claims, as evidence beside the finished report. */

import type { Source } from "../../reports/report.ts";
import type { StoredResult } from "../../runs/run.ts";
import type { Finding } from "../../search/checks/check.ts";
import type { OperationDeps } from "../operation.ts";

export interface CheckedReport {
  taskId: string;
  /** As it is stored. */
  report: string;
  sources: Source[];
  /** Google's grounding supports of the report. */
  supports: StoredResult["supports"];
  findings: Finding[];
}

/** The report is stored already: a failure costs only the evidence, which is still part of the rounds. */
export async function saveReadEvidence(
  { database, log, clock }: OperationDeps,
  { taskId, report, sources, supports, findings }: CheckedReport,
): Promise<void> {
  if (findings.length === 0) return;
  try {
    const { evidenceOf } = await import("../../search/checks/verification.ts");
    const evidence = evidenceOf(report, sources, findings);
    if (evidence.length === 0) return;
    const { claimsOfRun } = await import("../../verification/claims-of-run.ts");
    const { saveEvidence } = await import("../../verification/evidence-store.ts");
    const db = await database();
    // Evidence counts by the numbers of the stored claims.
    await claimsOfRun({ db, log }, { taskId, result: { report, sources, supports } });
    await saveEvidence(db, taskId, { kind: "read", evidence, now: clock.now() });
  } catch (error) {
    log.forRun(taskId).warn(`Evidence was not stored: ${error instanceof Error ? error.message : "unknown"}`);
  }
}
