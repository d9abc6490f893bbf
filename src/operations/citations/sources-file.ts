/** The sources of a finished run as a bibliography file. */

import { bibliography, type BibliographyFormat } from "../../reports/bibliography/bibliography.ts";
import type { Database } from "../../store/database.ts";
import { findPageChecks } from "../../verification/evidence-store.ts";
import { finishedReport } from "../save-research-to-markdown.ts";

export async function sourcesFile(
  db: Database,
  { owner, taskId, format }: { owner: string; taskId: string; format: BibliographyFormat },
) {
  const { run, result } = await finishedReport(db, owner, taskId);
  const pages = await findPageChecks(db, taskId);
  const at = run.completedAt ?? run.updatedAt;
  return { run, result, text: bibliography({ taskId, sources: result.sources, pages, at }, format) };
}
