/** SQL that claims finished reports whose citations no process has checked yet. */

import type { Database } from "../../store/database.ts";

/** Claims one finished report that was stored after `since`; each is claimed by exactly one process, once. */
export async function claimUnchecked(
  db: Database,
  { since, now }: { since: number; now: number },
): Promise<string | undefined> {
  const next = await db
    .selectFrom("research_results")
    .select("task_id")
    .where("saved_at", ">", since)
    .where("partial", "=", 0)
    .where("citations_checked_at", "is", null)
    .orderBy("saved_at")
    .limit(1)
    .executeTakeFirst();
  if (next === undefined) return undefined;
  const claimed = await db
    .updateTable("research_results")
    .set({ citations_checked_at: now })
    .where("task_id", "=", next.task_id)
    .where("citations_checked_at", "is", null)
    .returning("task_id")
    .executeTakeFirst();
  return claimed?.task_id;
}
