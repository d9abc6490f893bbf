/** The usage figures that the page reads: `GET /api/figures`. */

import type { RunKind, RunStatus } from "../runs/run.ts";

/** `GET /api/figures`: finished runs, oldest first. */
export interface Figures {
  runs: FinishedRun[];
  total_cost_usd: number;
  cost_incomplete?: true;
  cost_estimated?: true;
  total_runs: number;
  /** For the operator of a server with several users: usage of the last 30 days by user, the highest cost first. */
  users?: { name: string; runs: number; cost_usd: number }[];
}

export interface FinishedRun {
  task_id: string;
  kind: RunKind | "followup";
  query: string;
  status: RunStatus;
  completed_at: string;
  duration_minutes: number;
  cost_usd?: number;
  /** Of the model that judged its citations, in addition. */
  judge_cost_usd?: number;
  cost_incomplete?: true;
  cost_estimated?: true;
  estimated_usd?: { min: number; likely: number; max: number };
  estimated_minutes?: number;
}
