/** The only place that updates the status of a run: a transition names the states, and the holder, that it expects. */

import type { UpdateObject } from "kysely";
import type { Cost } from "../costs/actual.ts";
import type { Database, Tables } from "../store/database.ts";
import { obstacleColumns } from "./poll/obstacle.ts";
import { isFinished, type NewResult, type RunError, type StoredStatus, statesBefore } from "./run.ts";

type Columns = Omit<UpdateObject<Tables, "research_tasks">, "status">;

export interface Transition {
  taskId: string;
  to: StoredStatus;
  /** Defaults to the states that the table of legal transitions allows. `to` itself may be one, to update its columns. */
  from?: readonly StoredStatus[] | undefined;
  /** The lease owner that the row must have; `any` where the state alone decides. */
  holder: { processId: string } | "any";
  /** States outside the table that this one transition may start from, such as after reading the wrong interaction. */
  alsoFrom?: readonly StoredStatus[];
  set: Columns;
}

/** Returns the update for the caller to execute. It changes no row if the run is in another state. */
export function transition(db: Database, { taskId, to, from, alsoFrom = [], holder, set }: Transition) {
  const legal = statesBefore(to);
  const illegal = from?.filter((state) => state !== to && !legal.includes(state)) ?? [];
  if (illegal.length > 0) throw new Error(`Illegal run transition from ${illegal.join()} to ${to}.`);
  const update = db
    .updateTable("research_tasks")
    // A run that continues is in the list again.
    .set({ ...set, ...(isFinished(to) ? {} : { archived: 0 }), status: to })
    .where("task_id", "=", taskId)
    .where("status", "in", [...(from ?? legal), ...alsoFrom]);
  return holder === "any" ? update : update.where("lease_owner", "=", holder.processId);
}

/** What is stored when a run ends. */
export interface Ending {
  to: "completed" | "failed" | "cancelled";
  error?: RunError | undefined;
  tokens?: { input: number; output: number } | undefined;
  /** As Google counted them. */
  searches?: number | undefined;
  cost?: Cost | undefined;
  usageFinal: boolean;
  result?: NewResult | undefined;
  now: number;
}

/** Always all three, so that no suggestion stays with another error. */
export const errorColumns = (error: RunError | undefined) => ({
  error_code: error?.code ?? null,
  error_message: error?.message ?? null,
  error_suggestion: error?.suggestion ?? null,
});

/** Of a run that is not polled, or waits for its first poll. */
export const NO_ACTION = { current_action: null, ...obstacleColumns(undefined) };

/** What the end of a search and of a polled run set alike. Unknown tokens keep their stored values. */
export const endColumns = ({ to, error, tokens, searches, usageFinal, result, now }: Ending): Columns => ({
  ...(to === "completed" ? { progress: 100 } : {}),
  ...NO_ACTION,
  has_warning: result?.hasWarning === true ? 1 : 0,
  ...errorColumns(error),
  ...(tokens === undefined ? {} : { tokens_input: tokens.input, tokens_output: tokens.output }),
  ...(searches === undefined ? {} : { searches }),
  usage_final: usageFinal ? 1 : 0,
  updated_at: now,
  completed_at: now,
  lease_until: null,
});
