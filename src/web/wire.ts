/**
 * Contract between server, dashboard and run card: types of the JSON API and of the tools that only the card calls.
 * `GET /api/runs/:id` returns a `RunLive`. Times are ISO 8601 UTC; unknown values are absent.
 */

import type { Verdict } from "../claims/evidence.ts";
import type { Subject } from "../operations/question/subject.ts";
import type { RunHead, RunLive, TimelineEntry } from "../operations/view/run-view.ts";
import type { RunKind, RunStatus } from "../runs/run.ts";

/** Runs of the owner, without the filter. */
export interface RunCounts {
  /** By state, without archived runs. */
  counts: Partial<Record<RunStatus, number>>;
  /** Their sum. */
  total: number;
  /** Without archived runs. */
  starred: number;
  archived: number;
}

/**
 * `GET /api/runs?status&kind&text&starred=true&archived=true&limit&cursor`: newest first, or by relevance when there is a
 * text. Archived runs only with `archived=true`, and then no others.
 */
export interface RunPage extends RunCounts {
  runs: ListedRun[];
  next_cursor?: string | undefined;
  /** With a text: the matches. */
  found?: RunCounts | undefined;
}

export interface ListedRun extends RunHead {
  /** An excerpt around the words that were found, which are marked. */
  found?: { text: string; marked?: boolean | undefined }[] | undefined;
}

/** A question and, with `has_report`, its answer, which `/api/runs/:id/report` returns. */
export interface Turn extends RunHead {
  has_report: boolean;
}

/** `GET /api/runs/:id/conversation` */
export interface ConversationView {
  /** What the run continues, the first question first. */
  earlier: Turn[];
  /** What continues it, in the order in which it was asked. */
  later: Turn[];
  /** The run that the next question continues, its likely cost, and what the user must confirm. */
  next?: { task_id: string; likely_usd?: number | undefined; question?: ConsentQuestion | undefined } | undefined;
  /** What a table of this run would cost, and what the user must confirm. */
  table?: { likely_usd?: number | undefined; question?: ConsentQuestion | undefined } | undefined;
}

/** `GET /api/runs/:id/plan`: the newest plan of a run. */
export interface PlanView {
  task_id: string;
  /** Sent with the decision, so that no other plan is approved or changed than the one that is shown. */
  turn: number;
  /** Markdown. */
  text: string;
  /** The changes that the user has asked for, oldest first. */
  changes: string[];
  /** While it waits for approval: the likely cost of the research, and what the user must confirm before its start. */
  estimated_cost?: { likely_usd: number; max_usd: number } | undefined;
  expires_at?: string | undefined;
  question?: ConsentQuestion | undefined;
  /** What the user must confirm before a change of the plan, which is a paid request, too. */
  edit_question?: ConsentQuestion | undefined;
}

/** `GET /api/runs/:id/timeline`: the events of a run, oldest first. */
export interface Timeline {
  entries: TimelineEntry[];
  /** The `after` for `/api/live`, so that no entry is missed or sent twice. */
  last_seq: number;
}

/** Placeholder for the nonce in the document of a frame: only the page that contains the frame knows its nonce. */
export const NONCE_MARK = "%NONCE%";

/** `GET /api/runs/:id/report` */
export interface ReportView {
  task_id: string;
  title: string;
  /**
   * Built from an allow-list, without scripts, styles or URLs that a browser loads automatically. Pictures have their
   * number as `data-picture` and no URL: the page fetches them from `/api/runs/:id/pictures/:n`.
   */
  html: string;
  /** Very long reports come in parts; `html` is the first, these are read from `/api/runs/:id/report/parts/:n`. */
  more_parts: number;
  contents: { id: string; title: string; level: number }[];
  sources: ReportSource[];
  partial: boolean;
  verified?: boolean;
  /** The round of a deep search that confirmed the report. */
  verified_in_round?: number;
  /** How many of its claims were confirmed, in one line. */
  verification?: string;
  note?: string;
  /** `/api/runs/:id/table.csv` and `table.json` have the table. */
  has_table?: true;
  /** Google's Search Suggestions: a document for a frame, or markup in the card, whose own frame cannot open links. */
  suggestions?: { frame: string; height: number } | { html: string };
}

/** `GET /api/runs/:id/report/parts/:n`, from 1 to `more_parts`. */
export interface ReportPart {
  html: string;
}

export interface ReportSource {
  n: number;
  /** Further numbers that the text uses for the same page. */
  also?: number[];
  title: string;
  domain: string;
  /** http and https only. */
  url?: string;
  /** Ids of the citations in the report, for links back to the text. */
  cited_at: string[];
}

/** A file in the `uploads` of a start; `data` is base64. */
export interface Upload {
  name: string;
  data: string;
}

/**
 * `POST /api/ask` with `{query, depth, request_id?}`, where the same id again means the same run,
 * `POST /api/research` with `{query, model?, max_wait_hours?, force_new?, enable_notifications?, plan?, uploads?, agreed}`,
 * `POST /api/runs/:id/followup` with `{question, columns?, agreed}`,
 * `POST /api/runs/:id/cancel` with `{save_partial}`,
 * `POST /api/runs/:id/delete` with `{delete_at_google}`,
 * `POST /api/runs/:id/plan` with `{text, turn, agreed}`, the text of the changed plan,
 * `POST /api/runs/:id/approve` with `{turn, agreed}`,
 * `POST /api/runs/:id/resume` with `{interaction_id?, accept_possible_double_charge?, agreed?}`.
 */
export interface Acted {
  task_id: string;
  status: RunStatus | "deleted";
  message?: string | undefined;
  /** An identical run of the last minutes is returned instead of a new one. */
  joined?: boolean | undefined;
  notice?: string | undefined;
}

/** `POST /api/runs/:id/organize` with `{title?, starred?, archived?}`; an empty title is none. Returns the run. */
export type Organized = RunHead;

/**
 * `GET /api/live?run=<task_id>&after=<seq>&run=…`: server-sent events, one stream for all tabs because a browser has few
 * connections. `id:` is the seq of the last timeline entry, so that a stream continues after a reconnect.
 */
export interface LiveEvents {
  /** At every connection, and after events were dropped: the client refetches its list. */
  hello: { version: string };
  /** New or changed runs. */
  runs: { runs: RunHead[]; list_changed: boolean };
  /** A run in a `run` parameter, after each change. */
  run: RunLive;
  /** One entry of its timeline. */
  timeline: TimelineEntry & { task_id: string };
}

/** The error response of every route. */
export interface Refused {
  success: false;
  error: {
    code: string;
    message: string;
    suggestion?: string;
    details?: Record<string, unknown> & { question?: ConsentQuestion };
  };
  task_id?: string;
  status?: string;
}

/**
 * What the user must confirm. With a yes, the request has the subject as `agreed`. Without it, or if it no longer fits,
 * the error `CONFIRMATION_NEEDED` has the question of the moment in its details.
 */
export interface ConsentQuestion {
  text: string;
  subject: Subject;
}

/**
 * `POST /api/estimate` with the input of the start: `{query, model?, max_wait_hours?, force_new?, plan?, attachments?}`, where
 * `attachments` are the names and sizes of the files that the start will upload.
 */
export interface EstimateView {
  query_complexity: string;
  estimated_duration: { min_minutes: number; max_minutes: number; likely_minutes: number };
  estimated_cost: { min_usd: number; max_usd: number; likely_usd: number };
  recommendation: string;
  /** What the user must confirm before the start; absent if no confirmation is needed. */
  question?: ConsentQuestion | undefined;
  /** The question leaves open what is meant; the user may start it as it is. */
  is_vague: boolean;
}

/** A verdict about a claim and one of its sources; the labels are in claims/evidence.ts. */
export interface CitedPairView {
  /** Number of the source. */
  source: number;
  verdict: Verdict;
  /** How it was found: `page` was fetched here, `read` by Gemini; absent if it was not checked. */
  kind?: "page" | "read" | undefined;
  reason?: string | undefined;
  /** Text from the web. */
  passage?: string | undefined;
  /** In a conflict: what the page says instead. */
  page_says?: string | undefined;
  probability?: number | undefined;
  /** A model judged it. */
  judged?: boolean | undefined;
  /** Google's annotations attach the source to the claim. */
  by_google?: boolean | undefined;
  checked_at?: string | undefined;
}

export interface ClaimView {
  n: number;
  text: string;
  verdict: Verdict;
  pairs: CitedPairView[];
}

export interface CheckedSource {
  n: number;
  is_cited: boolean;
  /** The day on which Google's link to the page expires. */
  link_expires?: string | undefined;
  outcome?: "text" | "unreadable" | "gone" | "unreachable" | "not_checked" | undefined;
  reason?: string | undefined;
  checked_at?: string | undefined;
  http_status?: number | undefined;
  published?: string | undefined;
  author?: string | undefined;
  /** Of fetching this page again. */
  judge?: JudgePrice | undefined;
}

/** What the model that judges unconfirmed claims may cost. */
export interface JudgePrice {
  model: string;
  /** The most claims that it can be asked about. */
  pairs: number;
  /** Both undefined without a price of the model; the second is an upper bound. */
  likely_usd: number | undefined;
  max_usd: number | undefined;
  /** What the user must confirm, if it is above the limit. */
  question?: ConsentQuestion | undefined;
}

/**
 * `GET /api/runs/:id/citations`: what is known about the citations of a report, without a request to any site.
 * `POST` with `{numbers?, refetch?, agreed?}` fetches the pages of these sources first, within limits; `agreed` is the
 * subject of the question, if the user has confirmed the cost of the judge.
 */
export interface CitationsView {
  counts: { claims: number; uncited: number } & Partial<Record<Verdict, number>>;
  independent_domains: number;
  /** Groups of sources with the same text. */
  copies: number[][];
  sources: CheckedSource[];
  /** Those that cite a source. */
  claims: ClaimView[];
  /** Of checking everything that is due; undefined without a judge. */
  judge?: JudgePrice | undefined;
}

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

/** Of `view_run`. */
export interface RunCardView {
  run: RunLive;
  /** New ones, and always the milestones; merged by id. */
  entries: TimelineEntry[];
  /** While it waits for approval. */
  plan?: CardPlan | undefined;
}

export type CardPlan = Pick<PlanView, "text" | "estimated_cost" | "expires_at">;

export interface RunCardAnswer extends RunCardView {
  task_id: string;
  /** For the next call. */
  cursor: string;
}

/** Of `view_report`, by its `form`. */
export interface ReportForms {
  html: { report?: ReportView; html?: string };
  picture: { mime_type: string; data: string };
  markdown: { document: string; file_name: string };
  summary: { summary: string };
}
