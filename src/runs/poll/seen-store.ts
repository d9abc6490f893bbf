/** SQL that stores the progress of a running run, from polls and streams. Not fenced: progress is informational. */

import { sql } from "kysely";
import type { Cost } from "../../costs/actual.ts";
import { type Database, storable } from "../../store/database.ts";
import { costColumns } from "../cost-columns.ts";
import { type Obstacle, obstacleColumns } from "./obstacle.ts";
import type { PolledRun } from "../run.ts";

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

/** Stores what was seen of many runs in one statement. Columns without a new value are not changed. */
export async function recordSeen(db: Database, runs: { taskId: string; seen: Seen }[]): Promise<void> {
  if (runs.length === 0) return;
  // The columns of `values` have these names in both databases.
  await sql`
    update research_tasks as run set
      progress = case when run.progress < seen.column2 then seen.column2 else run.progress end,
      updated_at = seen.column3,
      current_action = coalesce(seen.column4, run.current_action),
      obstacle = seen.column5,
      obstacle_setting = seen.column6,
      last_event_at = coalesce(seen.column7, run.last_event_at),
      tokens_input = coalesce(seen.column8, run.tokens_input),
      tokens_output = coalesce(seen.column9, run.tokens_output),
      cost_usd = coalesce(seen.column10, run.cost_usd),
      cost_incomplete = coalesce(seen.column11, run.cost_incomplete),
      cost_estimated = coalesce(seen.column12, run.cost_estimated)
    from (values ${sql.join(runs.map(valuesOf))}) as seen
    where run.task_id = seen.column1 and run.status = 'running_async'`.execute(db);
}

function valuesOf({ taskId, seen }: { taskId: string; seen: Seen }) {
  const { now, currentAction, changed, tokens } = seen;
  const { obstacle, obstacle_setting } = obstacleColumns(seen.obstacle);
  const cost = seen.cost && costColumns(seen.cost);
  const text = (value: string | null | undefined) => sql`cast(${value ?? null} as text)`;
  const whole = (value: number | null | undefined) => sql`cast(${value ?? null} as bigint)`;
  return sql`(${sql.join([
    text(taskId),
    // Progress stays below 100 until the run has ended.
    sql`cast(${Math.round(Math.min(99, seen.progress))} as integer)`,
    whole(now),
    text(currentAction && storable(currentAction)),
    text(obstacle),
    text(obstacle_setting),
    whole(changed ? now : undefined),
    whole(tokens?.input),
    whole(tokens?.output),
    sql`cast(${cost?.cost_usd ?? null} as double precision)`,
    sql`cast(${cost?.cost_incomplete ?? null} as integer)`,
    sql`cast(${cost?.cost_estimated ?? null} as integer)`,
  ])})`;
}
