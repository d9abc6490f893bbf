/**
 * The engine: gives each poll that is due to one process.
 *
 * A run is polled while its `next_poll_at` is set, and then has exactly one next delivery. A process that receives it
 * holds a claim. It polls, and settles the claim: one transaction stores what was seen, releases the claim and schedules
 * the next delivery. A claim that is not settled, because its process died, was suspended or failed, is delivered again.
 *
 * Two fences are kept apart. The fence of a claim protects the schedule: a claim that was delivered again can no longer
 * be settled. The status of a run protects its result: whichever poll sees the end first may store it.
 *
 * There are two engines behind this interface: `table-engine.ts`, for SQLite, is a timer over the table of runs;
 * `boss-engine.ts`, for PostgreSQL, has a pg-boss job per delivery. What a poll does, how often and at what rate is the
 * same for both (`runs/scheduling/poller.ts`); `engine.test.ts` has what both promise.
 */

import type { Database } from "../../store/database.ts";

/** A quick poll has a short timeout. A run whose answer takes longer moves to the slow lane and delays no other run. */
export type Lane = "quick" | "slow";

/** The next delivery of a run. */
export interface Due {
  taskId: string;
  /** Identifies the API key that the poll needs; null when any key will do. */
  key: string | null;
  afterMs?: number;
  /** Of the deliveries that are due, those of a higher rank come first. */
  rank?: number;
  lane?: Lane;
}

export interface Claim {
  taskId: string;
  /** Identifies this delivery; of no meaning outside the engine. */
  fence: string;
}

export interface Worker {
  key: string;
  /** The number of claims that a batch of this lane may have now. */
  batch(lane: Lane): number;
  /** Settles these claims. Those that it does not settle, or all of them if it throws, are delivered again. */
  handle(claims: Claim[], lane: Lane): Promise<void>;
  /** A batch, or the search for what is due, failed for this many times in a row. Both are tried again. */
  onFault(error: unknown, inARow: number): Promise<void>;
}

export interface Engine {
  /** Called in the transaction that sets `next_poll_at` of these runs. A delivery that is scheduled already is kept. */
  schedule(transaction: Database, due: Due[]): Promise<void>;
  /** Delivers to this worker until the process leaves. `wake` makes it look at once for what is due. */
  work(worker: Worker): Promise<{ wake(): void }>;
  /** Releases the claims that are still ours, schedules what follows, and returns the runs of these claims. */
  settle(transaction: Database, settled: { claim: Claim; next: Due | undefined }[]): Promise<ReadonlySet<string>>;
  /** Makes the next delivery of a run due now, before all others. False when there is none, or it is in flight. */
  hasten(due: Pick<Due, "taskId" | "key">): Promise<boolean>;
  /** Waits at most two seconds for batches in flight; the claims of the others are delivered again. */
  close(): Promise<void>;
}

/** Below all other ranks. Both lanes of a run are in one queue, so that it never has two deliveries. */
export const SLOW_RANK = -1_000;

export const rankOf = ({ rank = 0, lane }: Due): number => (lane === "slow" ? SLOW_RANK : rank);

export const CLOSE_MS = 2_000;
