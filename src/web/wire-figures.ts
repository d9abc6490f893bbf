/** The usage figures that the page reads: `GET /api/figures`. */

import type { RunKind } from "../runs/run.ts";

interface CostMarks {
  cost_incomplete?: true;
  cost_estimated?: true;
}

export interface UsageSum extends CostMarks {
  runs: number;
  cost_usd: number;
  /** Of the completed runs. */
  average_minutes?: number;
}

export interface Figures extends CostMarks {
  total_runs: number;
  /** Part of the total; the sums are of finished runs only. */
  unfinished_runs: number;
  total_cost_usd: number;
  /** Part of the total: models that judged citations. */
  judge_cost_usd?: number;
  /** The last 30 days, oldest first, those without a run included. */
  days: ({ day: string } & UsageSum)[];
  /** Months of the last two years with a run, newest first. */
  months: ({ month: string } & UsageSum)[];
  /** Over two years. */
  kinds: ({ kind: RunKind | "followup" } & UsageSum)[];
  /** For the operator of a server with several users: usage of the last 30 days by user, the highest cost first. */
  users?: ({ name: string } & UsageSum)[];
}
