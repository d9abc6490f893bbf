/** SQL for the checks of a report in an archive, and back (`runs/library/archive-store.ts`). */

import { z } from "zod";
import { flag, json, rowsOf, text, time, whole } from "../runs/library/record-fields.ts";
import type { Database } from "../store/database.ts";

export const archivedChecks = z.object({
  pages: rowsOf(
    z.object({
      source: whole,
      outcome: text,
      reason: text.nullable(),
      is_refused: flag,
      url: text,
      final_url: text,
      http_status: whole.nullable(),
      text_hash: text.nullable(),
      shingles: json(z.array(z.number())).nullable(),
      published: text.nullable(),
      author: text.nullable(),
      checked_at: time,
    }),
    ({ source }) => source,
  ),
  evidence: rowsOf(
    z.object({
      claim: whole,
      source: whole,
      kind: text,
      verdict: text,
      reason: text.nullable(),
      passage: text.nullable(),
      page_says: text.nullable(),
      probability: z.number().nullable(),
      judged: flag,
      checked_at: time,
    }),
    ({ claim, source, kind }) => [claim, source, kind],
  ),
});

type ArchivedChecks = z.input<typeof archivedChecks>;

export async function readChecks(db: Database, taskId: string): Promise<ArchivedChecks> {
  const pages = db.selectFrom("research_pages").selectAll().select("shingles_json as shingles");
  const evidence = db.selectFrom("research_evidence").selectAll();
  return z.encode(archivedChecks, {
    pages: await pages.where("task_id", "=", taskId).orderBy("source").execute(),
    evidence: await evidence.where("task_id", "=", taskId).orderBy("claim").orderBy("source").orderBy("kind").execute(),
  });
}

/** In the transaction that restores the run. */
export async function restoreChecks(
  transaction: Database,
  task_id: string,
  { pages, evidence }: z.output<typeof archivedChecks>,
): Promise<void> {
  for (const { shingles: shingles_json, ...page } of pages)
    await transaction
      .insertInto("research_pages")
      .values({ ...page, task_id, shingles_json })
      .execute();
  for (const each of evidence)
    await transaction
      .insertInto("research_evidence")
      .values({ ...each, task_id })
      .execute();
}
