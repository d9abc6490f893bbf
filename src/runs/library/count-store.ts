/** SQL for the numbers beside the filters of the list: runs by state, starred runs and archived runs. */

import type { Database } from "../../store/database.ts";
import { RUN_STATUSES, type RunStatus } from "../run.ts";

export interface ListCounts {
  /** Without archived runs. */
  counts: Partial<Record<RunStatus, number>>;
  /** Without archived runs. */
  starred: number;
  archived: number;
}

/** Uses an index-only scan. */
export async function countListed(db: Database, owner: string): Promise<ListCounts> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["archived", "status", (select) => select.fn.countAll<number>().as("count")])
    .where("owner", "=", owner)
    .groupBy(["archived", "status"])
    .execute();
  const { starred } = await db
    .selectFrom("research_tasks")
    .select((select) => select.fn.countAll<number>().as("starred"))
    .where("owner", "=", owner)
    .where("starred", "=", 1)
    .where("archived", "=", 0)
    .executeTakeFirstOrThrow();
  const listed = rows.filter(({ archived, status }) => archived === 0 && RUN_STATUSES.some((one) => one === status));
  return {
    counts: Object.fromEntries(listed.map(({ status, count }) => [status, count])),
    starred,
    archived: rows.reduce((sum, { archived, count }) => (archived === 1 ? sum + count : sum), 0),
  };
}

interface CountedRow {
  status: string;
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
