/** SQL for the change feed: recently written runs of an owner. */

import type { Database } from "../../store/database.ts";
import { isShared } from "../../store/dialect.ts";
import { otherIdsOf } from "../conversation-store.ts";
import { FINISHED, UNFINISHED } from "../run.ts";

export interface WrittenRun {
  taskId: string;
  /** Ids of the runs whose place it has taken. */
  otherIds: string[];
  finished: boolean;
  createdAt: number;
  updatedAt: number;
  /** The visible state, for comparison; a heartbeat without news does not change it. */
  shown: string;
  /** What the user noted on the run, for comparison. */
  marks: string;
}

export interface Since {
  since: number;
  /** Runs that were unfinished when they were last read. */
  known: string[];
}

/**
 * Returns all runs that may have changed. SQLite finds them by `updated_at`. On PostgreSQL that column is not indexed,
 * which keeps progress updates cheap, so unfinished, new and recently unfinished runs are read instead.
 */
export async function runsWrittenSince(db: Database, owner: string, { since, known }: Since): Promise<WrittenRun[]> {
  const rows = await shownColumns(db, owner)
    .where((run) => {
      if (!isShared(db)) return run("updated_at", ">=", since);
      const before = known.length === 0 ? [] : [run("task_id", "in", known)];
      return run.or([run("status", "in", UNFINISHED), run("created_at", ">=", since), ...before]);
    })
    .execute();
  return Promise.all(rows.map((row) => writtenRun(db, row)));
}

export async function writtenRuns(db: Database, owner: string, taskIds: string[]): Promise<WrittenRun[]> {
  const rows = await shownColumns(db, owner).where("task_id", "in", taskIds).execute();
  return Promise.all(rows.map((row) => writtenRun(db, row)));
}

const shownColumns = (db: Database, owner: string) =>
  db
    .selectFrom("research_tasks")
    .select(["task_id", "kind", "status", "progress", "current_action", "obstacle", "usage_final"])
    .select(["created_at", "updated_at", "title", "tags", "starred", "archived", "carries_on"])
    .where("owner", "=", owner)
    .orderBy("updated_at");

type ShownRow = Awaited<ReturnType<ReturnType<typeof shownColumns>["execute"]>>[number];

const writtenRun = async (db: Database, row: ShownRow): Promise<WrittenRun> => ({
  taskId: row.task_id,
  otherIds: row.carries_on === null ? [] : await otherIdsOf(db, row.task_id),
  finished: FINISHED.some((status) => status === row.status),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  shown: JSON.stringify([row.status, row.progress, row.current_action, row.obstacle, row.usage_final]),
  marks: JSON.stringify([row.title, row.tags, row.starred, row.archived]),
});
