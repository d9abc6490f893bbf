/** SQL for the command line: runs by id prefix, and the newest runs. */

import type { Database } from "../../store/database.ts";

export interface NamedRun {
  taskId: string;
  query: string;
}

const MAX_MATCHES = 10;

/** Sorts after every hexadecimal digit in any collation. */
const AFTER_HEX_DIGITS = "g";

export async function runsBeginningWith(db: Database, owner: string, prefix: string): Promise<NamedRun[]> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["task_id", "query"])
    // A range can use the index.
    .where("task_id", ">=", prefix)
    .where("task_id", "<", prefix + AFTER_HEX_DIGITS)
    .where("owner", "=", owner)
    .orderBy("task_id")
    .limit(MAX_MATCHES)
    .execute();
  return rows.map(namedRunOf);
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
  return rows.map(namedRunOf);
}

const namedRunOf = (row: { task_id: string; query: string }): NamedRun => ({ taskId: row.task_id, query: row.query });
