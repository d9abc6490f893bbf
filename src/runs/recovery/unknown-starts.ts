/** Starts whose process ended, or had more time than a request can take, before Google had answered. */

import { processLiveness } from "../../store/processes.ts";
import { isHeld, START_LEASE_MS } from "../lease.ts";
import type { ResearchDeps } from "../deps.ts";
import { pendingStarts, recordStartFailure } from "../start/start-store.ts";

/** Of all runs, or of one. Returns how long to wait before the next check of those that may still be answered. */
export async function markUnknownStarts(deps: ResearchDeps, taskIdOfOne?: string): Promise<number | undefined> {
  const starts = await pendingStarts(deps.db, taskIdOfOne);
  const owners = await processLiveness(
    deps.db,
    starts.map(({ leaseOwner }) => leaseOwner ?? ""),
  );
  let waitMs: number | undefined;
  for (const { taskId, attemptId, leaseOwner, leaseUntil } of starts) {
    const now = deps.clock.now();
    const isOwn = deps.unsavedIds.has(taskId) || deps.unchargedFailures.has(attemptId);
    const isLive = owners.get(leaseOwner ?? "") !== "dead" && isHeld(leaseUntil, { now, lease: START_LEASE_MS });
    // Its id, or that it cost nothing, is known here and only waits for the database.
    if (isOwn || isLive) {
      waitMs = Math.max(waitMs ?? 0, isLive ? leaseUntil - now : START_LEASE_MS);
      continue;
    }
    const message =
      "The process that started this research ended before Google had answered. It is not known whether it was started.";
    const error = { code: "START_UNKNOWN", message };
    await recordStartFailure(deps.db, { taskId, attemptId, to: "start_unknown", error, now });
    deps.log.forRun(taskId).warn(`Run ${taskId}: ${message}`);
  }
  return waitMs;
}
