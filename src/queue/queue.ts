/** Who gets which run to follow: what those who follow runs need of an engine that hands them out. */

import type { Database } from "../store/database.ts";

export interface Offered {
  taskId: string;
  owner: string;
}

/** A query for `task_id` and `owner` of all runs that somebody has to follow. */
export interface FollowedRuns {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] };
}

export interface RunQueue {
  /** False: whoever comes first looks at what is due. True: only who was handed a run does. */
  readonly hands: boolean;
  /** In the transaction that makes these runs ones to follow. What is offered already stays as it is. */
  offer(transaction: Database, runs: Offered[]): Promise<void>;
  /** At most so many of those that nobody has; from now on the caller has them. */
  take(transaction: Database, most: number): Promise<string[]>;
  /** Their holder is at work on them: one that is silent for too long loses them. */
  keep(taskIds: string[]): Promise<void>;
  /** Nobody has them any more. */
  giveBack(transaction: Database, taskIds: string[]): Promise<void>;
  /** Offers what is followed and was not, drops what is not followed, and takes from holders that are silent. */
  repair(transaction: Database, followed: FollowedRuns): Promise<Repaired>;
}

export interface Repaired {
  offered: number;
  dropped: number;
  silent: number;
}
