/** Ends what dead processes held: their searches are interrupted and keep their rounds, their rows and slots are deleted. */

import type { Log } from "../../platform/log.ts";
import type { Database } from "../../store/database.ts";
import { databaseNow, isShared } from "../../store/dialect.ts";
import { processLiveness, deadProcesses, forgetProcesses, silentProcesses } from "../../store/processes.ts";
import { isAbandoned } from "../lock-store.ts";
import { isFinished, LOCAL_KINDS, type Run } from "../run.ts";
import { currentOf } from "../conversation-store.ts";
import { markInterrupted, unfinishedLocalRuns } from "../run-store.ts";
import { forgetSlots } from "../../store/slots.ts";
import { runHolders } from "../scheduling/polled-store.ts";

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
      `${interrupted} ${interrupted === 1 ? "search was" : "searches were"} interrupted when an earlier process ended; finished rounds are kept and can be read.`,
    );
  }
  return interrupted;
}

/** The run in its present state: if the process of a search has died since the last sweep, the run is interrupted. */
export async function findCurrentRun(
  db: Database,
  { owner, taskId, log, now }: { owner: string; taskId: string; log: Log; now: number },
): Promise<Run> {
  const run = await currentOf(db, owner, taskId);
  if (isFinished(run.status) || !LOCAL_KINDS.includes(run.kind)) return run;
  // A database that cannot be written can still be read.
  const marked = await markInterruptedSearches(db, log, now).catch(() => 0);
  return marked === 0 ? run : currentOf(db, owner, taskId);
}

export async function forgetStaleProcesses(db: Database, now: number): Promise<void> {
  const dead = await deadProcesses(db);
  // First: once the row of their holder is gone, slots are free only when their lease expires.
  await forgetSlots(db, { dead, now });
  await forgetProcesses(db, dead);
  if (!isShared(db)) return;
  // For example killed containers, whose death cannot be observed.
  const silent = await silentProcesses(db, now);
  if (silent.length === 0) return;
  const holders = new Set(await runHolders(db));
  await forgetProcesses(
    db,
    silent.filter((processId) => !holders.has(processId)),
  );
}
