/** The SQL of the change feed: what was written about an owner's runs lately. */

import type { Database } from "../store/database.ts";
import { isFinished, RUN_STATUSES } from "./run.ts";

export interface WrittenRun {
  taskId: string;
  finished: boolean;
  createdAt: number;
  updatedAt: number;
  /** What its readers would see differ; a heartbeat that says nothing new changes none of it. */
  shown: string;
}

export async function runsWrittenSince(db: Database, owner: string, since: number): Promise<WrittenRun[]> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["task_id", "status", "progress", "current_action", "usage_final", "created_at", "updated_at"])
    .where("owner", "=", owner)
    .where("updated_at", ">=", since)
    .orderBy("updated_at")
    .execute();
  return rows.map((row) => ({
    taskId: row.task_id,
    finished: RUN_STATUSES.some((status) => status === row.status && isFinished(status)),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    shown: JSON.stringify([row.status, row.progress, row.current_action, row.usage_final]),
  }));
}
