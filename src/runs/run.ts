/** Run types: kinds, states, and the table of legal state transitions. */

import type { GroundedSegment } from "../gemini/search-backend.ts";
import type { Cost } from "../costs/actual.ts";
import type { RunPlan } from "./plan/run-plan.ts";
import type { Picture, PictureFacts } from "../reports/pictures/picture.ts";
import type { CitedRange } from "../reports/citations.ts";
import type { Source } from "../reports/report.ts";
import type { Obstacle } from "./poll/obstacle.ts";

export const RUN_KINDS = ["search", "deep_search", "deep_research", "agent"] as const;
export type RunKind = (typeof RUN_KINDS)[number];

export const RUN_STATUSES = [
  "pending",
  "running",
  "running_async",
  "start_unknown",
  /** Google has returned a plan; the research starts when the user approves it. */
  "awaiting_approval",
  "completed",
  "failed",
  "cancelled",
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** What people read for a status, on every surface. */
export const STATUS_LABELS: Record<RunStatus, string> = {
  pending: "Waiting",
  running: "Running",
  running_async: "Running",
  start_unknown: "Unconfirmed start",
  awaiting_approval: "Waiting for approval",
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
};

/**
 * Finished states are final with three exceptions: a failed or cancelled run whose paid report arrives late, and a
 * cancelled start whose interaction id the user adopts. One transition is not in the table: a run loses an interaction
 * that belongs to another run (detach-store.ts). A run returns to `awaiting_approval` when a change or the approval of
 * its plan fails without a result; a failed one when its plan arrives late.
 */
const LEGAL_TRANSITIONS: Record<RunStatus, readonly RunStatus[]> = {
  pending: ["running", "running_async", "start_unknown", "awaiting_approval", "failed", "cancelled"],
  running: ["running_async", "completed", "failed", "cancelled"],
  running_async: ["awaiting_approval", "completed", "failed", "cancelled"],
  start_unknown: ["running_async", "pending", "awaiting_approval", "failed", "cancelled"],
  awaiting_approval: ["pending", "failed", "cancelled"],
  completed: [],
  failed: ["awaiting_approval", "completed"],
  cancelled: ["start_unknown", "completed"],
};

/** The states from which `to` may be entered; every status update names them in its WHERE clause. */
export const statesBefore = (to: RunStatus): RunStatus[] =>
  RUN_STATUSES.filter((from) => LEGAL_TRANSITIONS[from].includes(to));

export const isFinished = (status: RunStatus): boolean =>
  status === "completed" || status === "failed" || status === "cancelled";

export const FINISHED = RUN_STATUSES.filter(isFinished);
export const UNFINISHED = RUN_STATUSES.filter((status) => !isFinished(status));

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
  query: string;
  /** The name that the user gave it. */
  title: string | undefined;
  starred: boolean;
  archived: boolean;
  status: RunStatus;
  progress: number;
  currentAction: string | undefined;
  obstacle: Obstacle | undefined;
  /** Of a completed run: its report did not pass every gate. */
  hasWarning: boolean;
  mode: string | undefined;
  backend: string | undefined;
  model: string | undefined;
  client: string | undefined;
  createdAt: number;
  updatedAt: number;
  startedAt: number | undefined;
  completedAt: number | undefined;
  deadlineAt: number | undefined;
  lastEventAt: number | undefined;
  interactionId: string | undefined;
  parentTaskId: string | undefined;
  /** Undefined unless the run is a follow-up on its parent. */
  followupContext: FollowupContext | undefined;
  cancelRequestedAt: number | undefined;
  cancelConfirmed: boolean | undefined;
  enableNotifications: boolean;
  estimate: Record<string, unknown>;
  options: Record<string, unknown>;
  /** 0 while Google has reported none: `knownTokens`. */
  tokens: { input: number; output: number };
  cost: Cost;
  usageFinal: boolean;
  error: RunError | undefined;
  /** Undefined for a run without a plan. */
  plan: RunPlan | undefined;
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
