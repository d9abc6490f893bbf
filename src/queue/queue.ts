/** Port to the poll queue. A polled run has exactly one scheduled poll, replaced by the next one when it is made. */

import type { Database } from "../store/database.ts";

export interface NextPoll {
  taskId: string;
  /** Identifies the API key that the poll needs; null when any key will do. */
  key: string | null;
  afterMs?: number;
  /** Among due polls, those of higher priority come first. */
  priority?: number;
  /** The response takes long, so the poll runs separately from the others. */
  isSlow?: boolean;
}

export interface PollQueue {
  /** False: the table of runs is the queue, by `next_poll_at` and the lease of each run. */
  readonly usesPgBoss: boolean;
  /** Called in the transaction that starts polling these runs. An already scheduled poll is kept. */
  schedule(transaction: Database, polls: NextPoll[]): Promise<void>;
  /** Called in the transaction of a start: schedules a check of its outcome. */
  checkStart(transaction: Database, start: { taskId: string; afterMs: number }): Promise<void>;
  /** Makes the next poll of a run due now. False when there is none, or it is in flight. */
  pollNow(poll: Pick<NextPoll, "taskId" | "key">): Promise<boolean>;
}
