/** SQL that stores the progress of a running run, from polls and streams. Not fenced: progress is informational. */

import { sql } from "kysely";
import type { Cost } from "../../costs/actual.ts";
import { type Database, storable } from "../../store/database.ts";
import { progressAtLeast } from "../../store/dialect.ts";
import { costColumns } from "../cost-columns.ts";
import { type Obstacle, obstacleColumns } from "./obstacle.ts";
import type { PolledRun } from "./polled-run.ts";

export interface Seen {
  /** By Google's events, never by time. */
  progress: number;
  /** Undefined: the stored action is kept. */
  currentAction?: string | undefined;
  /** Undefined: Google has answered, and a stored obstacle is cleared. */
  obstacle?: Obstacle | undefined;
  /** True if something happened since the last poll. */
  changed: boolean;
  tokens?: { input: number; output: number } | undefined;
  cost?: Cost | undefined;
  now: number;
}

/** Undefined when the row already contains these values, so that nothing is written. */
export function changesOf(run: PolledRun, seen: Seen): Seen | undefined {
  const { progress, currentAction, obstacle, changed, tokens } = seen;
  const isKnown =
    !changed &&
    Math.round(progress) <= run.progress &&
    (currentAction === undefined || currentAction === run.currentAction) &&
    obstacle?.kind === run.obstacle?.kind &&
    obstacle?.setting === run.obstacle?.setting &&
    (tokens === undefined || (tokens.input === run.tokens.input && tokens.output === run.tokens.output));
  return isKnown ? undefined : seen;
}

/** The columns to update, except `progress`. */
export const seenColumns = (seen: Seen) => ({
  updated_at: seen.now,
  ...(seen.currentAction === undefined ? {} : { current_action: storable(seen.currentAction) }),
  ...obstacleColumns(seen.obstacle),
  ...(seen.changed ? { last_event_at: seen.now } : {}),
  ...(seen.tokens === undefined ? {} : { tokens_input: seen.tokens.input, tokens_output: seen.tokens.output }),
  ...(seen.cost === undefined ? {} : costColumns(seen.cost)),
});

/** Progress stays below 100 until the run has ended. */
export const progressColumn = (seen: Seen): number => Math.round(Math.min(99, seen.progress));

export async function recordSeen(db: Database, taskId: string, seen: Seen): Promise<void> {
  await db
    .updateTable("research_tasks")
    .set((run) => ({ progress: progressAtLeast(run, progressColumn(seen)), ...seenColumns(seen) }))
    .where("task_id", "=", taskId)
    .where("status", "=", "running_async")
    .execute();
}

/** `recordSeen` for many runs in one PostgreSQL statement. Columns without a new value are not changed. */
export async function recordSeenOfMany(db: Database, runs: { taskId: string; seen: Seen }[]): Promise<void> {
  if (runs.length === 0) return;
  const rows = runs.map(({ taskId, seen }) => ({
    task_id: taskId,
    progress: progressColumn(seen),
    ...seenColumns(seen),
  }));
  await sql`
    update research_tasks as run set
      progress = greatest(run.progress, seen.progress),
      updated_at = seen.updated_at,
      current_action = coalesce(seen.current_action, run.current_action),
      obstacle = seen.obstacle,
      obstacle_setting = seen.obstacle_setting,
      last_event_at = coalesce(seen.last_event_at, run.last_event_at),
      tokens_input = coalesce(seen.tokens_input, run.tokens_input),
      tokens_output = coalesce(seen.tokens_output, run.tokens_output),
      cost_usd = coalesce(seen.cost_usd, run.cost_usd),
      cost_incomplete = coalesce(seen.cost_incomplete, run.cost_incomplete),
      cost_estimated = coalesce(seen.cost_estimated, run.cost_estimated)
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as seen(
      task_id text, progress integer, updated_at bigint, current_action text, obstacle text, obstacle_setting text,
      last_event_at bigint, tokens_input bigint, tokens_output bigint, cost_usd double precision, cost_incomplete integer,
      cost_estimated integer
    )
    where run.task_id = seen.task_id and run.status = 'running_async'`.execute(db);
}
