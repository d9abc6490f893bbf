/** The SQL of what a terminal looks up: whole ids from their beginnings, and the newest ones. */

import type { Database } from "../../store/database.ts";

export interface NamedRun {
  taskId: string;
  query: string;
}

const MOST_MATCHES = 10;

/** Sorts after every digit of an id, in whatever order a database sorts letters. */
const LAST = "g";

export async function runsBeginningWith(db: Database, owner: string, prefix: string): Promise<NamedRun[]> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["task_id", "query"])
    // As a range: an index is searched for it.
    .where("task_id", ">=", prefix)
    .where("task_id", "<", prefix + LAST)
    .where("owner", "=", owner)
    .orderBy("task_id")
    .limit(MOST_MATCHES)
    .execute();
  return rows.map(named);
}

export async function newestRuns(db: Database, owner: string, limit: number): Promise<NamedRun[]> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["task_id", "query"])
    .where("owner", "=", owner)
    .orderBy("created_at", "desc")
    .orderBy("task_id", "desc")
    .limit(limit)
    .execute();
  return rows.map(named);
}

const named = (row: { task_id: string; query: string }): NamedRun => ({ taskId: row.task_id, query: row.query });
