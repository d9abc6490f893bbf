/** Run types: kinds, states, and the table of legal state transitions. */

import type { Action } from "../action.ts";
import type { AgentUsage } from "../gemini/research-agent.ts";
import type { GroundedSegment } from "../gemini/search-backend.ts";
import type { Cost, CostOf } from "../costs/actual.ts";
import type { Picture, PictureFacts } from "../reports/pictures/picture.ts";
import type { CitedRange } from "../reports/citations.ts";
import type { Source } from "../reports/report.ts";
import type { Obstacle } from "./poll/obstacle.ts";

export const RUN_KINDS = ["search", "deep_search", "deep_research", "agent"] as const;
export type RunKind = (typeof RUN_KINDS)[number];

/** For people, on every surface. */
export const KIND_NAMES: Record<RunKind | "followup", string> = {
  search: "Search",
  deep_search: "Deep search",
  deep_research: "Quick report",
  agent: "Deep research",
  followup: "Follow-up",
};

/** The backend of a report that was written elsewhere. */
export const IMPORTED = "import";

/** What a run is in its conversation: its opening question, or what follows from that. */
export const RUN_PARTS = ["question", "plan", "research", "followup", "table"] as const;
export type RunPart = (typeof RUN_PARTS)[number];

/** A completed plan is shown as `awaiting_approval`: the research starts when the user approves it. */
export const RUN_STATUSES = [
  "pending",
  "running",
  "running_async",
  "start_unknown",
  "awaiting_approval",
  "completed",
  "failed",
  "cancelled",
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** What lists of runs are filtered by: a status, or `in_progress` for both that mean running. */
export const STATUS_FILTERS = [...RUN_STATUSES, "in_progress"] as const;
export type StatusFilter = (typeof STATUS_FILTERS)[number];

export const statusesIn = (filter: StatusFilter): readonly RunStatus[] =>
  filter === "in_progress" ? ["running", "running_async"] : [filter];

export const STORED_STATUSES = RUN_STATUSES.filter((status) => status !== "awaiting_approval");
export type StoredStatus = (typeof STORED_STATUSES)[number];

/** What people read for a status, on every surface. */
export const STATUS_LABELS: Record<RunStatus, string> = {
  pending: "Waiting",
  running: "Running",
  running_async: "Running",
  start_unknown: "Start unknown",
  awaiting_approval: "Waiting for approval",
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
};

/**
 * Finished states are final with three exceptions: a failed or cancelled run whose paid report arrives late, and a
 * cancelled start whose interaction id the user adopts. Two transitions are not in the table: a completed plan that was
 * not approved expires or is cancelled, and a run loses an interaction that belongs to another run
 * (interaction-store.ts).
 */
const LEGAL_TRANSITIONS: Record<StoredStatus, readonly StoredStatus[]> = {
  pending: ["running", "running_async", "start_unknown", "failed", "cancelled"],
  running: ["running_async", "completed", "failed", "cancelled"],
  running_async: ["completed", "failed", "cancelled"],
  start_unknown: ["running_async", "failed", "cancelled"],
  completed: [],
  failed: ["completed"],
  cancelled: ["start_unknown", "completed"],
};

/** The states from which `to` may be entered; every status update names them in its WHERE clause. */
export const statesBefore = (to: StoredStatus): StoredStatus[] =>
  STORED_STATUSES.filter((from) => LEGAL_TRANSITIONS[from].includes(to));

/** Failed before Google accepted anything: nothing was charged, and there is nothing to read. Lists for people leave it out. */
export const failedUncharged = ({ status, cost }: Pick<Run, "status" | "cost">): boolean =>
  status === "failed" && cost.usd === 0;

export const isFinished = (status: RunStatus): boolean =>
  status === "completed" || status === "failed" || status === "cancelled";

export const FINISHED = STORED_STATUSES.filter(isFinished);
export const UNFINISHED = STORED_STATUSES.filter((status) => !isFinished(status));

/** Nothing happens until the user acts: the run has ended, or its plan waits for approval. */
export const isIdle = (status: RunStatus): boolean => isFinished(status) || status === "awaiting_approval";

/** Undefined until Google has reported tokens, which it does for most runs at their end. */
export const knownTokens = ({ tokens, usageFinal }: Pick<Run, "tokens" | "usageFinal">): Run["tokens"] | undefined =>
  usageFinal || tokens.input + tokens.output > 0 ? tokens : undefined;

/** Kinds that run in our own process and end with it. */
export const LOCAL_KINDS: readonly RunKind[] = ["search", "deep_search", "deep_research"];

/** What the model that answers a follow-up is given: the interaction that Google has stored, or our stored report. */
export const FOLLOWUP_CONTEXTS = ["google", "stored_report"] as const;
export type FollowupContext = (typeof FOLLOWUP_CONTEXTS)[number];

export interface RunError {
  code: string;
  message: string;
  /** What to do, where the error itself says it. */
  suggestion?: string | undefined;
}

export interface Run {
  taskId: string;
  owner: string;
  kind: RunKind;
  part: RunPart;
  query: string;
  /** The name that the user gave it. */
  title?: string | undefined;
  /** The words that the user gave it, in lower case. */
  tags: readonly string[];
  /** What the user noted on it. */
  note?: string | undefined;
  starred: boolean;
  archived: boolean;
  status: RunStatus;
  progress: number;
  currentAction?: string | undefined;
  obstacle?: Obstacle | undefined;
  /** Of a completed run: its report did not pass every gate. */
  hasWarning: boolean;
  mode?: string | undefined;
  backend?: string | undefined;
  model?: string | undefined;
  client?: string | undefined;
  createdAt: number;
  updatedAt: number;
  startedAt?: number | undefined;
  completedAt?: number | undefined;
  deadlineAt?: number | undefined;
  lastEventAt?: number | undefined;
  interactionId?: string | undefined;
  parentTaskId?: string | undefined;
  /** The run whose place this one takes. */
  carriesOn?: string | undefined;
  /** Undefined unless the run is a follow-up on its parent. */
  followupContext?: FollowupContext | undefined;
  cancelRequestedAt?: number | undefined;
  cancelConfirmed?: boolean | undefined;
  enableNotifications: boolean;
  estimate: Record<string, unknown>;
  options: Record<string, unknown>;
  /** 0 while Google has reported none: `knownTokens`. */
  tokens: { input: number; output: number };
  cost: Cost;
  usageFinal: boolean;
  error?: RunError | undefined;
}

export type RunUsage = Pick<Run, "tokens" | "cost">;

/** What Google has reported of a run, at the prices of the time when it was requested. */
export const usageOf = (
  { costOf }: { costOf: CostOf },
  { model = "", createdAt }: Pick<Run, "model" | "createdAt">,
  usage: AgentUsage,
): RunUsage & { searches: number } => ({
  tokens: { input: usage.input, output: usage.output },
  searches: usage.searches,
  cost: costOf(usage, model, createdAt),
});

/** What can be done with the text of a search that ended early: a deep search can go on after its finished rounds. */
export const nextAfterPartial = (kind: RunKind): readonly Action[] =>
  kind === "deep_search" ? [{ do: "read" }, { do: "continue" }] : [{ do: "read" }];

/** The run that an error is about. */
export const aboutRun = ({ taskId, status, progress }: Run) => ({ task_id: taskId, status, progress });

/** A run whose interaction at Google is known. */
export interface RunAtGoogle extends Run {
  interactionId: string;
}

/**
 * A run while `next_poll_at` is set. That includes finished runs: those whose usage is missing, cancelled ones that Google
 * has not confirmed, and failed ones whose report may still arrive.
 */
export interface PolledRun extends RunAtGoogle {
  /** As it is stored: a complete plan is completed. */
  status: StoredStatus;
  deadlineAt: number;
  completedAt: number;
  /** Identifies an unusable response of Google that lasts. */
  oddAnswer: string | undefined;
}

/** A start that Google has accepted, but the database has not. */
export interface UnsavedRun extends RunAtGoogle {
  attemptId: string;
}

export interface RunResult {
  report: string;
  sources: Source[];
  citations?: CitedRange[] | undefined;
  /** Output fields of the tool other than the report, such as `verified` and the rounds. */
  metadata: Record<string, unknown>;
  /** It did not pass every gate; the note of the metadata says why. */
  hasWarning?: boolean | undefined;
  partial: boolean;
  /** Google's Search Suggestions: untrusted HTML, shown in a sandbox with the report. */
  searchSuggestions?: readonly string[] | undefined;
  /** Google's grounding supports of a search. Untrusted. */
  supports?: readonly GroundedSegment[] | undefined;
}

/** A result to be stored, with the bytes of its pictures. */
export interface NewResult extends RunResult {
  pictures?: readonly Picture[] | undefined;
}

/** A result read from the store, without the bytes of its pictures. */
export interface StoredResult extends RunResult {
  pictures?: readonly PictureFacts[] | undefined;
}

/** A finished round of a deep_search, stored as soon as it ends. */
export interface SavedRound {
  roundNumber: number;
  report: string;
  verified: boolean;
  summary: string;
  sources: Source[];
  queries: string[];
  metadata: Record<string, unknown>;
}
