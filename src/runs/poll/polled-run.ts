/** The data of a polled run that a poll needs, and the columns it is read from. */

import type { Selectable } from "kysely";
import { z } from "zod";
import type { Tables } from "../../store/database.ts";
import { RUN_PARTS, type RunPart, STORED_STATUSES, type StoredStatus } from "../run.ts";
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
  status: StoredStatus;
  agent: string;
  epoch: number;
  createdAt: number;
  deadlineAt: number;
  cancelRequestedAt: number | undefined;
  progress: number;
  currentAction: string | undefined;
  obstacle: Obstacle | undefined;
  completedAt: number;
  oddAnswer: string | undefined;
  tokens: { input: number; output: number };
  part: RunPart;
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
  "part",
  "deadline_at",
  "cancel_requested_at",
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
  status: z.enum(STORED_STATUSES).parse(row.status),
  agent: row.model ?? "",
  epoch: row.lease_epoch,
  createdAt: row.created_at,
  deadlineAt: row.deadline_at ?? Number.MAX_SAFE_INTEGER,
  cancelRequestedAt: row.cancel_requested_at ?? undefined,
  progress: row.progress,
  currentAction: row.current_action ?? undefined,
  obstacle: obstacleOf(row),
  completedAt: row.completed_at ?? row.created_at,
  oddAnswer: row.odd_answer ?? undefined,
  tokens: { input: row.tokens_input, output: row.tokens_output },
  part: z.enum(RUN_PARTS).parse(row.part),
});
