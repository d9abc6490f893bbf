/** The data of a polled run that a poll needs, and the columns it is read from. */

import type { Selectable } from "kysely";
import { z } from "zod";
import type { Tables } from "../../store/database.ts";
import { readPlan, type RunPlan } from "../plan/run-plan.ts";
import { turnBegan } from "../run-row.ts";
import { RUN_STATUSES, type RunStatus } from "../run.ts";
import { type Obstacle, obstacleOf } from "./obstacle.ts";

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
  obstacle: Obstacle | undefined;
  completedAt: number;
  oddAnswer: string | undefined;
  tokens: { input: number; output: number };
  /** Undefined for a run without a plan. */
  plan: RunPlan | undefined;
}

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
  "obstacle",
  "obstacle_setting",
  "completed_at",
  "odd_answer",
  "tokens_input",
  "tokens_output",
] as const;

type PolledRow = Pick<Selectable<Tables["research_tasks"]>, (typeof POLLED_COLUMNS)[number]>;

/** Of a row with an interaction id. */
export const polledRunOf = (row: PolledRow): PolledRun => ({
  taskId: row.task_id,
  owner: row.owner,
  query: row.query,
  interactionId: row.interaction_id ?? "",
  status: z.enum(RUN_STATUSES).parse(row.status),
  agent: row.model ?? "",
  epoch: row.lease_epoch,
  createdAt: turnBegan(row),
  deadlineAt: row.deadline_at ?? Number.MAX_SAFE_INTEGER,
  cancelRequestedAt: row.cancel_requested_at ?? undefined,
  keepPartial: row.keep_partial === 1,
  progress: row.progress,
  currentAction: row.current_action ?? undefined,
  obstacle: obstacleOf(row),
  completedAt: row.completed_at ?? row.created_at,
  oddAnswer: row.odd_answer ?? undefined,
  tokens: { input: row.tokens_input, output: row.tokens_output },
  plan: readPlan(row.plan_json),
});
