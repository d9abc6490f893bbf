/** Locks and leases of runs, and reads of a few columns of one. */

import type { Database, Tables } from "../store/database.ts";
import { lockRows } from "../store/dialect.ts";
import type { Liveness } from "../platform/process-identity.ts";

/**
 * Call first in a transaction. By convention the lock also protects the run's attempts, events and results. False if
 * there is no such run.
 */
export async function lockRun(transaction: Database, taskId: string): Promise<boolean> {
  const run = transaction.selectFrom("research_tasks").select("task_id").where("task_id", "=", taskId);
  return (await lockRows(transaction, run).execute()).length > 0;
}

/** Reads these columns of a run; undefined if there is no such run. */
export const readColumns = <Column extends keyof Tables["research_tasks"]>(
  db: Database,
  taskId: string,
  columns: readonly Column[],
) => db.selectFrom("research_tasks").select(columns).where("task_id", "=", taskId).executeTakeFirst();

/** Renewed every 15 s. */
export const SEARCH_LEASE_MS = 60_000;
/** Longer than a start can take: its request times out after two minutes. */
export const START_LEASE_MS = 150_000;

/** A lease that ends implausibly far in the future was written before the clock was set back, and does not count. */
export const isHeld = (until: number, { now, lease }: { now: number; lease: number }): boolean =>
  until > now && until <= now + 2 * lease;

/** Whether no process runs the search any longer. For a process on another machine only the lease decides. */
export const isAbandoned = (holder: Liveness | undefined, until: number, now: number): boolean =>
  holder !== "alive" && !(holder === "unknown" && isHeld(until, { now, lease: SEARCH_LEASE_MS }));
