/** SQL that claims results for link resolution and for automatic checks of citations, and stores resolved URLs. */

import { z } from "zod";
import type { Database } from "../../store/database.ts";
import { storedJson } from "../run-row.ts";

const sourceList = z.array(z.looseObject({ url: z.string(), resolved_url: z.string().optional() }));

interface Since {
  since: number;
  now: number;
}

/** Claims one finished result whose links are unresolved; a result is claimed by exactly one process. */
export async function claimUnresolved(db: Database, times: Since) {
  const claimed = await claimResult(db, "links_resolved_at", times);
  return claimed === undefined ? undefined : { taskId: claimed.task_id, links: linksIn(claimed.sources_json) };
}

/** Claims one finished report whose citations no process has checked yet; each is claimed by exactly one process, once. */
export async function claimUnchecked(db: Database, times: Since): Promise<string | undefined> {
  return (await claimResult(db, "citations_checked_at", times))?.task_id;
}

/** The oldest complete result that was stored after `since` and whose time in this column is not set yet. */
async function claimResult(db: Database, column: "links_resolved_at" | "citations_checked_at", { since, now }: Since) {
  const next = await db
    .selectFrom("research_results")
    .select("task_id")
    .where("saved_at", ">", since)
    .where("partial", "=", 0)
    .where(column, "is", null)
    .orderBy("saved_at")
    .limit(1)
    .executeTakeFirst();
  if (next === undefined) return undefined;
  return db
    .updateTable("research_results")
    .set({ [column]: now })
    .where("task_id", "=", next.task_id)
    .where(column, "is", null)
    .returning(["task_id", "sources_json"])
    .executeTakeFirst();
}

const linksIn = (sourcesJson: string): string[] => [
  ...new Set(storedJson(sourcesJson, sourceList).map(({ url }) => url)),
];

/** Re-reads the sources and matches them by URL, because the result may have changed since it was claimed. */
export function saveResolved(db: Database, taskId: string, resolved: ReadonlyMap<string, string>): Promise<void> {
  return db.transaction().execute(async (transaction) => {
    const row = await transaction
      .selectFrom("research_results")
      .select("sources_json")
      .where("task_id", "=", taskId)
      .executeTakeFirst();
    if (row === undefined) return;
    const stored = storedJson(row.sources_json, sourceList);
    if (stored.length === 0) return;
    const sources = stored.map((source) => {
      const resolved_url = resolved.get(source.url);
      return resolved_url === undefined ? source : { ...source, resolved_url };
    });
    await transaction
      .updateTable("research_results")
      .set({ sources_json: JSON.stringify(sources) })
      .where("task_id", "=", taskId)
      .execute();
  });
}
