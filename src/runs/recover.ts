/** Runs that a dead process left behind get the one end that is true: interrupted, with their finished rounds. */

import type { Log } from "../platform/log.ts";
import type { Database } from "../store/database.ts";
import { processLiveness } from "../store/processes.ts";
import { isHeld, SEARCH_LEASE_MS } from "./lease.ts";
import { markInterrupted, unfinishedLocalRuns } from "./run-store.ts";

export async function recoverInterruptedRuns(db: Database, log: Log, now: number): Promise<number> {
  const runs = await unfinishedLocalRuns(db);
  const owners = await processLiveness(
    db,
    runs.map((run) => run.leaseOwner),
  );
  let interrupted = 0;
  for (const { taskId, leaseOwner, leaseUntil } of runs) {
    const state = owners.get(leaseOwner);
    if (state === "alive" || (state === "unknown" && isHeld(leaseUntil, { now, lease: SEARCH_LEASE_MS }))) continue;
    if (await markInterrupted(db, { taskId, leaseOwner, now })) interrupted += 1;
  }
  if (interrupted > 0) {
    log.info(
      `${interrupted} ${interrupted === 1 ? "search was" : "searches were"} interrupted when an earlier process ended; finished rounds can still be read with get_research_results.`,
    );
  }
  return interrupted;
}
