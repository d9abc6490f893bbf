/** What the page and the server say to each other. Times are ISO 8601 UTC; what is not known is absent. */

/**
 * The second half of a page session, sent as a header with every request. Browsers send a cookie to every port of a
 * host, but give a page's storage to its own origin only, port included.
 */
export const PAGE_SECRET_HEADER = "x-page-secret";
/** Where the page keeps it: the name in localStorage. */
export const PAGE_SECRET_ITEM = "page-secret";

import type { RunKind, RunStatus } from "../runs/run.ts";

/** A line of the list. */
export interface RunSummary {
  task_id: string;
  kind: RunKind;
  query: string;
  status: RunStatus;
  progress: number;
  /** Google says no percentage: the number is a guess. */
  progress_is_estimate?: boolean;
  current_action: string;
  created_at: string;
  started_at?: string;
  completed_at?: string;
  cost_usd?: number;
  /** A part has no price: the amount is a lower bound. */
  cost_incomplete?: true;
  /** A model was priced by its family. */
  cost_estimated?: true;
  /** The likely cost as it was estimated at the start. */
  estimated_usd?: number;
  stalled_since?: string;
}

/** `GET /api/runs?status&kind&text&limit&cursor`: newest first, or by relevance when there is a text. */
export interface RunPage {
  runs: ListedRun[];
  next_cursor?: string;
  /** Of all runs of the owner, whatever the filter. */
  counts: Partial<Record<RunStatus, number>>;
  total: number;
}

export interface ListedRun extends RunSummary {
  /** Where the words were found; the marked pieces are the words. */
  found?: { text: string; marked?: boolean }[];
}

/** What can be done about a run, in the order it should be offered. */
export type RunAction =
  /** Stop it here and at Google. */
  | "cancel"
  /** A failed or timed-out run: see whether Google has its report by now. */
  | "look_again"
  /** An interrupted deep_search: go on at its next round. */
  | "continue"
  /** A start whose answer was lost: take over the id that Google shows. */
  | "adopt"
  /** The same, started once more; it may be charged twice. */
  | "restart"
  /** Remove it for good, with everything that belongs to it. */
  | "delete";

/** `GET /api/runs/:id` */
export interface RunDetail extends RunSummary {
  actions: RunAction[];
  has_report: boolean;
  /** The report is what was there when the run ended early. */
  partial?: boolean;
  mode?: string;
  model?: string;
  backend?: string;
  client?: string;
  interaction_id?: string;
  parent_task_id?: string;
  deadline_at?: string;
  cancel_requested_at?: string;
  tokens: { input: number; output: number };
  /** False until Google has reported what the run used. */
  usage_final: boolean;
  estimate?: { min_usd?: number; likely_usd?: number; max_usd?: number; likely_minutes?: number };
  likely_minutes_left?: number;
  last_thought?: string;
  /** Where the report was saved because the database refused it. */
  backup_file?: string;
  error?: { code: string; message: string; suggestion?: string };
}

/** `GET /api/runs/:id/timeline`: what happened, oldest first. */
export interface Timeline {
  entries: TimelineEntry[];
  /** To be given to `/api/live` so that nothing is missed or told twice. */
  last_seq: number;
}

export interface TimelineEntry {
  /** Stable within the run; entries that come live and by a look are the same entry. */
  id: string;
  at: string;
  kind: "state" | "thought" | "search" | "source" | "round" | "advice";
  text: string;
}

/** Stands for the nonce in the document of a frame, because only the page that shows it knows its own. */
export const NONCE_MARK = "%NONCE%";

/** `GET /api/runs/:id/report` */
export interface ReportView {
  task_id: string;
  title: string;
  /**
   * Built from an allow-list, without scripts, styles or foreign addresses that load by themselves. Its pictures have
   * their number as `data-picture` and no address: the page reads them from `/api/runs/:id/pictures/:n`.
   */
  html: string;
  contents: { id: string; title: string; level: number }[];
  sources: ReportSource[];
  partial: boolean;
  verified?: boolean;
  note?: string;
  /** Google's Search Suggestions: a document for a sandboxed frame, `NONCE_MARK` where the page's nonce belongs. */
  suggestions?: { frame: string; height: number };
}

export interface ReportSource {
  n: number;
  title: string;
  domain: string;
  /** http and https only. */
  url?: string;
  /** The ids of the places in the report that cite it: the way back. */
  cited_at: string[];
}

/** `POST /api/estimate` with what the start would have: `{query, model?, max_wait_hours?, force_new?}` */
export interface EstimateView {
  query_complexity: string;
  estimated_duration: { min_minutes: number; max_minutes: number; likely_minutes: number };
  estimated_cost: { min_usd: number; max_usd: number; likely_usd: number };
  recommendation: string;
  /** What the user must agree to before the start; absent where nothing is asked. */
  question?: string | undefined;
}

/**
 * `POST /api/research` with `{query, model?, max_wait_hours?, force_new?, enable_notifications?, agreed}`,
 * `POST /api/runs/:id/cancel` with `{save_partial}`,
 * `POST /api/runs/:id/delete` with `{delete_at_google}`,
 * `POST /api/runs/:id/resume` with `{interaction_id?, accept_possible_double_charge?, agreed?}`.
 */
export interface Acted {
  task_id: string;
  status: RunStatus | "deleted";
  message?: string | undefined;
  /** An identical run of the last minutes was found instead of starting one. */
  joined?: boolean | undefined;
  notice?: string | undefined;
}

/** `GET /api/figures`: finished runs, oldest first. */
export interface Figures {
  runs: FinishedRun[];
  total_cost_usd: number;
  cost_incomplete?: true;
  cost_estimated?: true;
  total_runs: number;
}

export interface FinishedRun {
  task_id: string;
  kind: RunKind;
  query: string;
  status: RunStatus;
  completed_at: string;
  duration_minutes: number;
  cost_usd?: number;
  cost_incomplete?: true;
  cost_estimated?: true;
  estimated_usd?: { min: number; likely: number; max: number };
  estimated_minutes?: number;
}

/**
 * `GET /api/live?run=<task_id>&after=<seq>`: server-sent events, one stream per tab because a browser has few
 * connections. `id:` is the seq of the last timeline entry, so that a stream that was cut goes on where it was.
 */
export interface LiveEvents {
  /** At every connection: whoever was away reads its list again. */
  hello: { version: string };
  /** Runs that are new or changed. */
  runs: { runs: RunSummary[]; list_changed: boolean };
  /** The run that is looked at, when something of it changed. */
  run: RunDetail;
  /** One entry of its timeline. */
  timeline: TimelineEntry;
}

/** What every address answers when it does not do what it was asked, with a fitting status. */
export interface Refused {
  success: false;
  error: { code: string; message: string; suggestion?: string; details?: Record<string, unknown> };
  task_id?: string;
  status?: string;
}
