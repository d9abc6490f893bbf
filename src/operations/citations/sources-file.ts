/** The sources of a finished run as a bibliography file. */

import { bibliography } from "../../reports/bibliography/bibliography.ts";
import type { BibliographyFormat } from "../../reports/bibliography/bibliography-formats.ts";
import type { Run, StoredResult } from "../../runs/run.ts";
import type { Database } from "../../store/database.ts";
import { findPageChecks } from "../../verification/evidence-store.ts";

interface FinishedRun {
  run: Run;
  result: StoredResult;
}

export async function sourcesFile(
  db: Database,
  { run, result }: FinishedRun,
  format: BibliographyFormat,
): Promise<string> {
  const { taskId } = run;
  const pages = await findPageChecks(db, taskId);
  const at = run.completedAt ?? run.updatedAt;
  return bibliography({ taskId, sources: result.sources, pages, at }, format);
}
