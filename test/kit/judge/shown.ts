/** Reads from stored rows what the runs show of each interaction. */

import type { JudgedRun, Shown } from "./money.ts";

export interface ShowingRun extends JudgedRun {
  interaction_id: string | null;
  cancel_requested_at: number | null;
  keep_partial: number;
}

interface StoredTexts {
  runs: ShowingRun[];
  /** By task id. */
  reports: ReadonlyMap<string, string>;
}

/**
 * A run shows its interaction, with the report or the plan. A user who cancels a run and keeps nothing drops the plans
 * before it, too.
 */
export function shownOf({ runs, reports }: StoredTexts): Shown[] {
  const isDropped = ({ task_id, status, keep_partial }: ShowingRun): boolean =>
    (status === "cancelled" && keep_partial === 0) || runs.some((run) => run.carries_on === task_id && isDropped(run));
  return runs.flatMap((run) =>
    run.interaction_id === null
      ? []
      : {
          id: run.interaction_id,
          task_id: run.task_id,
          text: reports.get(run.task_id) ?? "",
          isCancelRequested: run.cancel_requested_at !== null,
          isDropped: isDropped(run),
        },
  );
}
