/** Marks starts as unknown whose process ended, or whose request timed out, before Google responded. */

import { processLiveness } from "../../store/processes.ts";
import { isHeld, START_LEASE_MS } from "../lease.ts";
import type { ResearchDeps } from "../deps.ts";
import { pendingStarts, recordStartFailure } from "../start/start-store.ts";

export async function markUnknownStarts(deps: ResearchDeps): Promise<void> {
  const starts = await pendingStarts(deps.db);
  const owners = await processLiveness(
    deps.db,
    starts.map(({ leaseOwner }) => leaseOwner ?? ""),
  );
  for (const { taskId, attemptId, leaseOwner, leaseUntil } of starts) {
    const now = deps.clock.now();
    const isKnownHere = deps.unsavedIds.has(taskId) || deps.unchargedFailures.has(attemptId);
    const isLive = owners.get(leaseOwner ?? "") !== "dead" && isHeld(leaseUntil, { now, lease: START_LEASE_MS });
    // `isKnownHere`: this process knows the id or that nothing was charged, and has yet to store it.
    if (isKnownHere || isLive) continue;
    const message =
      "The process that started this research ended before Google had answered. It is not known whether it was started.";
    const error = { code: "START_UNKNOWN", message };
    await recordStartFailure(deps.db, { taskId, attemptId, to: "start_unknown", error, now });
    deps.log.forRun(taskId).warn(`Run ${taskId}: ${message}`);
  }
}
