/** What a poll has seen: its outcome, and SQL that stores it. Not fenced: progress is informational. */

import { sql } from "kysely";
import type { Cost } from "../../costs/actual.ts";
import { type Database, storable } from "../../store/database.ts";
import { noteCost } from "../ledger/ledger-store.ts";
import { type Obstacle, obstacleColumns } from "./obstacle.ts";
import type { PolledRun } from "../run.ts";
import { readColumns } from "../lock-store.ts";

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

/** Stores what was seen of many runs in one statement, and the cost of those whose usage has grown. Columns without a new value are not changed. */
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
      tokens_output = coalesce(seen.column9, run.tokens_output)
    from (values ${sql.join(runs.map(valuesOf))}) as seen
    where run.task_id = seen.column1 and run.status = 'running_async'`.execute(db);
  for (const { taskId, seen } of runs) if (seen.cost !== undefined) await noteCost(db, taskId, seen.cost);
}

function valuesOf({ taskId, seen }: { taskId: string; seen: Seen }) {
  const { now, currentAction, changed, tokens } = seen;
  const { obstacle, obstacle_setting } = obstacleColumns(seen.obstacle);
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
  ])})`;
}

export interface OddAnswer {
  taskId: string;
  /** Identifies the response; equal as long as the response does not change. */
  answer: string;
  now: number;
}

/** Stores the response and returns the time since when it has been the same. */
export async function sameAnswerSince(db: Database, { taskId, answer, now }: OddAnswer): Promise<number> {
  const row = await readColumns(db, taskId, ["odd_answer", "odd_answer_since"]);
  // A time in the future was written before the clock was set back, and is ignored.
  if (row?.odd_answer === answer && row.odd_answer_since !== null && row.odd_answer_since <= now) {
    return row.odd_answer_since;
  }
  await db
    .updateTable("research_tasks")
    .set({ odd_answer: answer, odd_answer_since: now })
    .where("task_id", "=", taskId)
    .execute();
  return now;
}

/** Called when Google returns a usable response again. */
export async function clearOddAnswer(db: Database, taskId: string): Promise<void> {
  await db
    .updateTable("research_tasks")
    .set({ odd_answer: null, odd_answer_since: null })
    .where("task_id", "=", taskId)
    .where("odd_answer", "is not", null)
    .execute();
}

/** Stored for a request that Google rejects. Any other response ends a series of rejections. */
export const REJECTION = "rejected";

export interface Outcome {
  /** `slow`: repeat as a slow poll. `never`: the run is no longer polled. */
  next: "interval" | "slow" | "never" | { afterMs: number };
  /** Undefined when nothing has changed. */
  seen?: Seen | undefined;
  /** Set when the end of the run and its next poll are already stored. */
  recorded?: true;
  /** Set after a 429: the pause for all processes that use this key. */
  pauseMs?: number;
}

export const AGAIN: Outcome = { next: "interval" };
export const NEVER: Outcome = { next: "never" };
/** The pause after a 429 without a Retry-After. */
export const RATE_LIMIT_MS = 30_000;
