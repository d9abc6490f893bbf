/**
 * Schedules: questions that are asked again at fixed times. The sweep of every process that polls (`scheduling/runner.ts`)
 * finds the occurrences that are due. One is claimed by changing `next_at` in the transaction that commits the intent of
 * its run, so that neither several processes nor a crash start it twice or lose it. Occurrences that were missed are one
 * run, late.
 */

import type { Rule } from "./calendar.ts";
import type { Tables } from "../../store/database.ts";

export type ScheduledOperation = Tables["schedules"]["operation"];

/**
 * `budget`, `limit` and `failed`: the last occurrence was passed over, because the schedule's own budget or a hard limit
 * had no room for it, or by an error. `unfinished` and `unavailable`: the one that is due waits for the last run to end,
 * or for a process with a key and a database that can be written.
 */
export type ScheduleProblem = NonNullable<Tables["schedules"]["problem"]>;

export interface Schedule {
  scheduleId: string;
  owner: string;
  operation: ScheduledOperation;
  /** Of the operation. */
  input: Record<string, unknown> & { query: string };
  rule: Rule;
  budgetUsd: number;
  paused: boolean;
  nextAt: number | undefined;
  lastAt: number | undefined;
  problem: ScheduleProblem | undefined;
  createdAt: number;
}

/** What a start claims with the intent of its run. */
export interface Occurrence {
  scheduleId: string;
  dueAt: number;
  /** The occurrence after it; undefined if it is the last one. */
  nextAt: number | undefined;
}

/** The occurrence was not claimed, and nothing was stored: another process was faster, or it may not start now. */
export class OccurrenceRefused extends Error {
  readonly reason: "taken" | "budget" | "unfinished" | "failed";

  constructor(reason: OccurrenceRefused["reason"]) {
    super(`The occurrence was not claimed: ${reason}.`);
    this.name = "OccurrenceRefused";
    this.reason = reason;
  }
}
