/** Marks searches of dead processes as interrupted; their finished rounds stay readable. */

import type { Log } from "../../platform/log.ts";
import type { Database } from "../../store/database.ts";
import { databaseNow } from "../../store/dialect.ts";
import { processLiveness } from "../../store/processes.ts";
import { isAbandoned } from "../lease.ts";
import { markInterrupted, unfinishedLocalRuns } from "../run-store.ts";

export async function markInterruptedSearches(db: Database, log: Log, now: number): Promise<number> {
  const runs = await unfinishedLocalRuns(db);
  if (runs.length === 0) return 0;
  const owners = await processLiveness(
    db,
    runs.map((run) => run.leaseOwner),
  );
  // Database time, because another machine may have written the lease.
  const databaseTime = await databaseNow(db, now);
  let interrupted = 0;
  for (const { taskId, leaseOwner, leaseUntil } of runs) {
    if (!isAbandoned(owners.get(leaseOwner), leaseUntil, databaseTime)) continue;
    if (await markInterrupted(db, { taskId, leaseOwner, now })) interrupted += 1;
  }
  if (interrupted > 0) {
    log.info(
      `${interrupted} ${interrupted === 1 ? "search was" : "searches were"} interrupted when an earlier process ended; finished rounds can still be read with get_research_results.`,
    );
  }
  return interrupted;
}
