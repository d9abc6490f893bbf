/** Reads from stored rows what the runs show of each interaction. */

import type { JudgedRun, Shown } from "./money.ts";

export interface ShowingRun extends JudgedRun {
  interaction_id: string | null;
  cancel_requested_at: number | null;
  keep_partial: number;
}

export interface ShowingAttempt {
  task_id: string;
  interaction_id: string | null;
  is_planning: number;
  plan_markdown: string | null;
}

interface StoredTexts {
  runs: ShowingRun[];
  attempts: ShowingAttempt[];
  /** By task id. */
  reports: ReadonlyMap<string, string>;
}

/** A run shows the interaction that it polls or has polled last, and each of its plans. */
export function shownOf({ runs, attempts, reports }: StoredTexts): Shown[] {
  const runOf = new Map(runs.map((run) => [run.task_id, run]));
  const facts = ({ cancel_requested_at, keep_partial, status, task_id }: ShowingRun) => ({
    task_id,
    isCancelRequested: cancel_requested_at !== null,
    isDropped: status === "cancelled" && keep_partial === 0,
  });
  const polled = runs.flatMap((run) =>
    run.interaction_id === null
      ? []
      : [{ ...facts(run), id: run.interaction_id, text: reports.get(run.task_id) ?? "" }],
  );
  const planned = attempts.flatMap(({ task_id, interaction_id: id, is_planning, plan_markdown: text }) => {
    const run = runOf.get(task_id);
    if (id === null || is_planning !== 1 || run === undefined) return [];
    return text === null && !facts(run).isDropped ? [] : [{ ...facts(run), id, text: text ?? "" }];
  });
  return [...polled, ...planned];
}
