/** The port of the queue of polls: a followed run has one poll, which is due, is made, and is followed by the next one. */

import type { Database } from "../store/database.ts";

export interface NextPoll {
  taskId: string;
  /** Fingerprint of the API key that it has to be polled with; null when any will do. */
  key: string | null;
  afterMs?: number;
  /** Higher is sooner, among those that are due. */
  priority?: number;
  /** Its answer takes long: it is made apart from the others. */
  patient?: boolean;
}

export interface PollQueue {
  /** False: the table of runs is the queue, and `next_poll_at` and the lease of a run are all there is. */
  readonly isEngine: boolean;
  /** In the transaction that makes these runs followed. A run that has a poll already keeps it. */
  schedule(transaction: Database, polls: NextPoll[]): Promise<void>;
  /** In the transaction of a start: after so long, whether it was answered is checked. */
  checkStart(transaction: Database, start: { taskId: string; afterMs: number }): Promise<void>;
  /** Brings the next poll of a run forward. False when there is none, or it is being made. */
  pollNow(poll: Pick<NextPoll, "taskId" | "key">): Promise<boolean>;
}
