/** SQL that claims results for link resolution and for automatic checks of citations, and stores what they find out. */

import { z } from "zod";
import { isBareTitle } from "../../reports/report.ts";
import { type Database, storable } from "../../store/database.ts";
import { lockRun } from "../lock-store.ts";
import { updateSearch } from "../result-store.ts";
import { storedJson } from "../run-row.ts";

const sourceList = z.array(z.looseObject({ url: z.string(), title: z.string(), domain: z.string() }));

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

/** What was found out about a source after its report was stored. */
interface SourceFacts {
  /** The target of a redirect link. */
  resolved_url?: string;
  /** Of the page; a better title than a domain is kept. */
  title?: string;
}

const MAX_TITLE_CHARACTERS = 300;

/** By URL, and read again, because the result may have changed since. */
export function saveSourceFacts(db: Database, taskId: string, facts: ReadonlyMap<string, SourceFacts>): Promise<void> {
  return db.transaction().execute(async (transaction) => {
    if (!(await lockRun(transaction, taskId))) return;
    const row = await transaction
      .selectFrom("research_results")
      .select("sources_json")
      .where("task_id", "=", taskId)
      .executeTakeFirst();
    if (row === undefined) return;
    const stored = storedJson(row.sources_json, sourceList);
    if (stored.length === 0) return;
    const sources = stored.map((source) => {
      const { title = "", ...resolved } = facts.get(source.url) ?? {};
      const isNamed = isBareTitle(source) && !isBareTitle({ title, domain: source.domain });
      return {
        ...source,
        ...resolved,
        ...(isNamed ? { title: title.slice(0, MAX_TITLE_CHARACTERS).toWellFormed() } : {}),
      };
    });
    await transaction
      .updateTable("research_results")
      .set({ sources_json: storable(JSON.stringify(sources)) })
      .where("task_id", "=", taskId)
      .execute();
    await updateSearch(transaction, taskId);
  });
}
