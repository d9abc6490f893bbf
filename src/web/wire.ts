/**
 * Contract between server, page and run card: types of the JSON API and of the tools that only the card calls.
 * `GET /api/runs/:id` returns a `RunLive`. Times are ISO 8601 UTC; unknown values are absent.
 */

import type { citationsView } from "../operations/citations/citations-view.ts";
import type { CostsView } from "../operations/costs-view.ts";
import type { estimateResearchCost } from "../operations/estimate-research-cost.ts";
import type { OutputOf } from "../operations/operation.ts";
import type { reportPage } from "../operations/parts/report-html.ts";
import type { ScheduleView } from "../operations/schedules/schedule-view.ts";
import type { RunHead, RunLive, TimelineEntry } from "../operations/view/run-view.ts";
import type { AddedWebhook, TestOfWebhook, WebhookView } from "../notifications/manage-webhooks.ts";
import type { RunStatus } from "../runs/run.ts";
import type { conversationOf, listPage, newestPlanOf, timelineOf } from "./api/run-pages.ts";
import type { ConsentQuestion } from "./consent.ts";

/**
 * `GET /api/runs?status&kind&text&tag&starred=true&archived=true&limit&cursor`: newest first, or by relevance when there is a
 * text. Archived runs only with `archived=true`, and then no others.
 */
export type RunPage = Omit<ListPage, "runs"> & { runs: ListedRun[] };
type ListPage = Awaited<ReturnType<typeof listPage>>;

export type RunCounts = NonNullable<RunPage["found"]>;

export type ListedRun = RunHead & Partial<ListPage["runs"][number]>;

/**
 * `GET /api/key`, and the answer of `POST /api/key` with `{key, untested?}`: it saves a key that works, and with `untested`
 * also one that could not be tested.
 */
export interface KeyView {
  /** No key is set, and nothing can be asked without one. */
  is_missing: boolean;
  /** Where the page would save it; undefined if it cannot be entered here. */
  file?: string | undefined;
}

/** `GET /api/webhooks` */
export interface WebhookList {
  webhooks: WebhookView[];
}

/** The answer of `POST /api/webhooks` with `{url, shape?, events?}`. */
export type WebhookAdded = AddedWebhook;

/** The answer of `POST /api/webhooks/:id/test`. `DELETE /api/webhooks/:id` removes it. */
export type WebhookTested = TestOfWebhook;

/** `GET /api/runs/:id/conversation` */
export type ConversationView = Awaited<ReturnType<typeof conversationOf>>;

/** A question and, with `has_report`, its answer, which `/api/runs/:id/report` returns. */
export type Turn = ConversationView["later"][number];

/** `GET /api/runs/:id/restart`: what a yes to sending an unknown start again agrees to. */
export interface RestartTerms {
  question?: ConsentQuestion | undefined;
}

/** `GET /api/runs/:id/plan`: the newest plan of a run, as Markdown, and the changes that the user has asked for, oldest first. */
export type PlanView = Awaited<ReturnType<typeof newestPlanOf>>;

/** `GET /api/runs/:id/timeline`: the events of a run, oldest first. */
export type Timeline = Awaited<ReturnType<typeof timelineOf>>;

/** Placeholder for the nonce in the document of a frame: only the page that contains the frame knows its nonce. */
export const NONCE_MARK = "%NONCE%";

type ReportPage = Awaited<ReturnType<typeof reportPage>>;

/** `GET /api/runs/:id/report` */
export interface ReportView extends Omit<ReportPage, "parts" | "suggestions"> {
  /**
   * Built from an allow-list, without scripts, styles or URLs that a browser loads automatically. Pictures have their
   * number as `data-picture` and no URL: the page fetches them from `/api/runs/:id/pictures/:n`.
   */
  html: string;
  /** Very long reports come in parts; `html` is the first, these are read from `/api/runs/:id/report/parts/:n`. */
  more_parts: number;
  /** Google's Search Suggestions: a document for a frame, or markup in the card, whose own frame cannot open links. */
  suggestions?: { frame: string; height: number } | { html: string };
}

/** `GET /api/runs/:id/report/parts/:n`, from 1 to `more_parts`. */
export type ReportPart = Pick<ReportView, "html">;

export type ReportSource = ReportPage["sources"][number];

/** `POST /api/library?name=…&at=…` with the bytes of a Markdown report or an archive. */
export interface Imported {
  imported: number;
  present: number;
  message: string;
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
 * `POST /api/runs/:id/delete` with `{delete_at_google, seen_status}`, the status that the user was shown,
 * `POST /api/runs/:id/plan` with `{text, turn, agreed}`, the text of the changed plan,
 * `POST /api/runs/:id/approve` with `{turn, agreed}`,
 * `POST /api/runs/:id/resume` with `{interaction_id?, accept_possible_double_charge?, agreed?}`.
 * `POST /api/runs/:id/organize` with `{title?, tag?, untag?, note?, starred?, archived?}` returns the `RunHead`; an empty title or note is none.
 */
export interface Acted {
  task_id: string;
  status: RunStatus | "deleted";
  message?: string | undefined;
  /** An identical run of the last minutes is returned instead of a new one. */
  joined?: boolean | undefined;
  notice?: string | undefined;
}

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

export type { ConsentQuestion };

/**
 * `POST /api/estimate` with the input of the start: `{query, model?, max_wait_hours?, force_new?, plan?, attachments?}`, where
 * `attachments` are the names and sizes of the files that the start will upload.
 */
export interface EstimateView extends Estimate {
  /** What the user must confirm before the start; absent if no confirmation is needed. */
  question?: ConsentQuestion | undefined;
  /** The question leaves open what is meant; the user may start it as it is. */
  is_vague: boolean;
  /** The likely cost of the plan, if it is asked for one. */
  plan_usd?: number | undefined;
}

type Estimate = OutputOf<typeof estimateResearchCost>;

/** `GET /api/runs/:id/earlier`: reports of the same question, newest first, for `GET /api/runs/:id/changes?earlier=`. */
export interface EarlierReports {
  reports: { task_id: string; created_at: string }[];
}

/** `GET /api/runs/:id/changes` */
export type { ReportComparison } from "../operations/compare-reports.ts";

/** `GET /api/schedules`; `POST` with an action of `schedule_research` and what the user `agreed` to. */
export interface ScheduleList {
  schedules: ScheduleView[];
}
export type { ScheduleView } from "../operations/schedules/schedule-view.ts";

type Citations = Awaited<ReturnType<typeof citationsView>>;
export type ClaimView = Citations["claims"][number];
export type CitedPairView = ClaimView["pairs"][number];

export type CheckedSource = Citations["sources"][number];

/**
 * `GET /api/runs/:id/citations`: what is known about the citations of a report, without a request to any site.
 * `POST` with `{numbers?, refetch?}` fetches the pages of these sources first, within limits.
 */
export interface CitationsView extends Citations {
  /** Why citations were not judged in this check, as sentences. */
  not_judged?: string | undefined;
}

/** `GET /api/figures?since&until&kind&model&owner`; `/api/figures.csv` has a line per day, user, kind and model. */
export type Costs = CostsView;

/** `GET /api/budgets`: those that are set, with what counts against each. */
export type BudgetsLeft = Pick<CostsView, "budgets">;

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

/**
 * Header with the secret of a session, sent with every request besides the cookie. Browsers send a cookie to every port
 * of a host, but localStorage belongs to one origin, including its port.
 */
export const PAGE_SECRET_HEADER = "x-page-secret";
/** Name of the secret in localStorage. */
export const PAGE_SECRET_ITEM = "page-secret";
/** Name of the item beside it with the name of the user who is signed in; absent for the user of the server's machine. */
export const PAGE_USER_ITEM = "page-user";
