/** SQL for the numbers beside the filters of the list: runs by state, starred runs and archived runs. */

import type { Database } from "../../store/database.ts";
import { isListed } from "../conversation-store.ts";
import { RUN_STATUSES, type RunStatus } from "../run.ts";

export interface ListCounts {
  /** Without archived runs. */
  counts: Partial<Record<RunStatus, number>>;
  /** Without archived runs. */
  starred: number;
  archived: number;
}

interface Counted {
  archived: number;
  status: RunStatus;
  count: number;
}

/** Uses an index-only scan for all runs, and reads the few that are not listed, or are open plans, by partial indexes. */
async function countByStatus(db: Database, owner: string): Promise<Counted[]> {
  const runs = db.selectFrom("research_tasks").where("owner", "=", owner);
  const rows = await runs
    .select(["archived", "status", (select) => select.fn.countAll<number>().as("count")])
    .groupBy(["archived", "status"])
    .execute();
  const counts = new Map(rows.map(({ archived, status, count }) => [`${archived} ${status}`, count]));
  const add = ({ archived, status }: { archived: number; status: string }, count: number): unknown =>
    counts.set(`${archived} ${status}`, (counts.get(`${archived} ${status}`) ?? 0) + count);
  const carriedOn = await db
    .selectFrom("research_tasks as next")
    .innerJoin("research_tasks as run", "run.task_id", "next.carries_on")
    .select(["run.archived", "run.status"])
    .where("next.carries_on", "is not", null)
    .where("next.gave_way", "=", 0)
    .where("run.gave_way", "=", 0)
    .where("run.owner", "=", owner)
    .execute();
  const gaveWay = runs.select(["archived", "status"]).where("carries_on", "is not", null).where("gave_way", "=", 1);
  for (const run of [...carriedOn, ...(await gaveWay.execute())]) add(run, -1);
  const plans = runs.select(["archived", "status"]).where("part", "=", "plan").where("status", "=", "completed");
  for (const plan of await plans.where(isListed).execute()) {
    add(plan, -1);
    add({ ...plan, status: "awaiting_approval" }, 1);
  }
  return [0, 1].flatMap((archived) =>
    RUN_STATUSES.map((status) => ({ archived, status, count: counts.get(`${archived} ${status}`) ?? 0 })),
  );
}

export async function countListed(db: Database, owner: string): Promise<ListCounts> {
  const rows = await countByStatus(db, owner);
  const { starred } = await db
    .selectFrom("research_tasks")
    .select((select) => select.fn.countAll<number>().as("starred"))
    .where("owner", "=", owner)
    .where("starred", "=", 1)
    .where("archived", "=", 0)
    .where(isListed)
    .executeTakeFirstOrThrow();
  const listed = rows.filter(({ archived, count }) => archived === 0 && count > 0);
  return {
    counts: Object.fromEntries(listed.map(({ status, count }) => [status, count])),
    starred,
    archived: rows.reduce((sum, { archived, count }) => (archived === 1 ? sum + count : sum), 0),
  };
}

interface CountedRow {
  status: RunStatus;
  starred: number;
  archived: number;
}

/** The same of rows that a search has found. */
export function countRows(rows: readonly CountedRow[]): ListCounts {
  const listed = rows.filter(({ archived }) => archived === 0);
  const byStatus = RUN_STATUSES.map(
    (known) => [known, listed.filter(({ status }) => status === known).length] as const,
  );
  return {
    counts: Object.fromEntries(byStatus.filter(([, count]) => count > 0)),
    starred: listed.filter(({ starred }) => starred === 1).length,
    archived: rows.length - listed.length,
  };
}
