/** The summary of checked citations, in answers and in saved files. */

import { z } from "zod";
import { VERDICT_LABELS, VERDICTS } from "../../claims/evidence.ts";
import type { Database } from "../../store/database.ts";
import { type CitationsSummary, summariseCitations } from "../../verification/standing.ts";

export const citationsCheckedField = z
  .looseObject({ claims: z.number() })
  .describe("Claims by verdict, once verify_citations has checked them.");

interface StoredReport {
  taskId: string;
  report: string;
}

/** Damaged evidence must not cost the report. */
const summaryOf = (db: Database, report: StoredReport): Promise<CitationsSummary | undefined> =>
  summariseCitations(db, report).catch(() => undefined);

export async function checkedCitations(db: Database, report: StoredReport) {
  const summary = await summaryOf(db, report);
  return summary === undefined ? {} : { citations_checked: summary };
}

/** As one line; undefined if nothing was checked. */
export async function checkedCitationsText(db: Database, report: StoredReport): Promise<string | undefined> {
  const summary = await summaryOf(db, report);
  if (summary === undefined) return undefined;
  const verdicts = VERDICTS.flatMap((verdict) =>
    summary[verdict] === undefined ? [] : [`${summary[verdict]} ${VERDICT_LABELS[verdict]}`],
  );
  return `${summary.claims} claims: ${verdicts.join(", ")}`;
}
