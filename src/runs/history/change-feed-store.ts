/** The SQL of the change feed: what was written about an owner's runs lately. */

import type { Database } from "../../store/database.ts";
import { isShared } from "../../store/dialect.ts";
import { progressOf } from "../run-row.ts";
import { isFinished, RUN_STATUSES } from "../run.ts";

const UNFINISHED = RUN_STATUSES.filter((status) => !isFinished(status));

export interface WrittenRun {
  taskId: string;
  finished: boolean;
  createdAt: number;
  updatedAt: number;
  /** What its readers would see differ; a heartbeat that says nothing new changes none of it. */
  shown: string;
}

export interface Since {
  since: number;
  /** All that are unfinished are read, also those that were not written: their progress moves with time. */
  withUnfinished: boolean;
  /** Those that were unfinished when they were last read. */
  known: string[];
}

/**
 * All that may have changed. SQLite finds it by the date of the write. On PostgreSQL that date is in no index, so that
 * an update of a run's progress is a cheap one: there the unfinished, the new and the lately unfinished are read.
 */
export async function runsWrittenSince(
  db: Database,
  owner: string,
  { since, withUnfinished, known }: Since,
): Promise<WrittenRun[]> {
  const rows = await shownColumns(db, owner)
    .where((run) => {
      const unfinished = run("status", "in", UNFINISHED);
      if (!isShared(db)) return run.or([run("updated_at", ">=", since), ...(withUnfinished ? [unfinished] : [])]);
      const before = known.length === 0 ? [] : [run("task_id", "in", known)];
      return run.or([unfinished, run("created_at", ">=", since), ...before]);
    })
    .execute();
  return rows.map(writtenRun);
}

export async function writtenRuns(db: Database, owner: string, taskIds: string[]): Promise<WrittenRun[]> {
  const rows = await shownColumns(db, owner).where("task_id", "in", taskIds).execute();
  return rows.map(writtenRun);
}

const shownColumns = (db: Database, owner: string) =>
  db
    .selectFrom("research_tasks")
    .select(["task_id", "kind", "status", "progress", "current_action", "usage_final", "model", "interaction_id"])
    .select(["created_at", "updated_at", "completed_at"])
    .where("owner", "=", owner)
    .orderBy("updated_at");

type ShownRow = Awaited<ReturnType<ReturnType<typeof shownColumns>["execute"]>>[number];

const writtenRun = (row: ShownRow): WrittenRun => ({
  taskId: row.task_id,
  finished: RUN_STATUSES.some((status) => status === row.status && isFinished(status)),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  // What time alone makes of it is stored nowhere, and moves on an open page all the same.
  shown: JSON.stringify([row.status, progressOf(row), row.current_action, row.usage_final]),
});
