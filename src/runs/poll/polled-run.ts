/** The data of a polled run that a poll needs, and the columns it is read from. */

import { type Selectable, sql } from "kysely";
import type { Tables } from "../../store/database.ts";
import { type RunPlan, tryReadPlan } from "../plan/run-plan.ts";
import { isPollable, turnBegan } from "../run-row.ts";
import { RUN_STATUSES, type RunStatus } from "../run.ts";

/*
 * A run is polled while `next_poll_at` is set. That includes finished runs: completed ones whose usage is missing,
 * cancelled ones that Google has not confirmed, and failed ones that a user asked to poll again.
 */

export interface PolledRun {
  taskId: string;
  owner: string;
  query: string;
  interactionId: string;
  status: RunStatus;
  agent: string;
  epoch: number;
  /** Of a run with a plan: when the current turn began. */
  createdAt: number;
  deadlineAt: number;
  cancelRequestedAt: number | undefined;
  keepPartial: boolean;
  progress: number;
  currentAction: string | undefined;
  completedAt: number;
  oddAnswer: string | undefined;
  /** `input/output`, as text: an impossible count does not keep the run from being polled. */
  tokens: string;
  /** Undefined for a run without a plan. */
  plan: RunPlan | undefined;
}

export const tokensOf = ({ input, output }: { input: number; output: number }): string => `${input}/${output}`;

export const POLLED_COLUMNS = [
  "task_id",
  "owner",
  "query",
  "interaction_id",
  "status",
  "model",
  "lease_epoch",
  "created_at",
  "started_at",
  "plan_json",
  "deadline_at",
  "cancel_requested_at",
  "keep_partial",
  "progress",
  "current_action",
  "completed_at",
  "odd_answer",
] as const;

export const TOKENS_COLUMN = sql<string>`cast(tokens_input as text) || '/' || cast(tokens_output as text)`.as("tokens");

type PolledRow = Pick<Selectable<Tables["research_tasks"]>, (typeof POLLED_COLUMNS)[number]> & { tokens: string };

/** Undefined when the row is damaged or has no interaction id. */
export function polledRunOf(row: PolledRow): PolledRun | undefined {
  const plan = tryReadPlan(row.plan_json);
  if (row.interaction_id === null || plan === "damaged" || !isPollable(row)) return undefined;
  return {
    taskId: row.task_id,
    owner: row.owner,
    query: row.query,
    interactionId: row.interaction_id,
    status: RUN_STATUSES.find((status) => status === row.status) ?? "failed",
    agent: row.model ?? "",
    epoch: row.lease_epoch,
    createdAt: turnBegan(row),
    deadlineAt: row.deadline_at ?? Number.MAX_SAFE_INTEGER,
    cancelRequestedAt: row.cancel_requested_at ?? undefined,
    keepPartial: row.keep_partial === 1,
    progress: row.progress,
    currentAction: row.current_action ?? undefined,
    completedAt: row.completed_at ?? row.created_at,
    oddAnswer: row.odd_answer ?? undefined,
    tokens: row.tokens,
    plan,
  };
}
