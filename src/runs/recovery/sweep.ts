/** Runs the repairs that each process makes every few seconds, in order. */

import type { ResearchDeps } from "../deps.ts";
import { saveReportsOfUnsavedRuns } from "./database-outage.ts";
import { endExpiredPlans } from "../plan/decide.ts";
import { markInterruptedSearches } from "./interrupted-searches.ts";
import { releaseFiles } from "../file-store.ts";
import { importOrphanedIds } from "./orphaned-ids.ts";
import { flushUnchargedFailures } from "./uncharged-starts.ts";
import { saveUnsavedIds } from "./unsaved-ids.ts";

export interface SweepOptions {
  deps: ResearchDeps;
  /** Unknown starts, the heartbeat of the poller, and its repair once a minute. */
  sweepPolls: () => Promise<void>;
  /** Sends pending notifications from the outbox. */
  deliver: () => Promise<unknown>;
  /** Runs whose report was saved to a file during an outage of the database. */
  savedToFile: Set<string>;
}

/*
 * Repairs elsewhere: stale rows of processes and temporary files at start (compose-research.ts), claims of dead processes
 * by the engine (engine/), runs in memory while the database cannot be written (database-outage.ts, called by the
 * runner).
 */
export async function sweep({ deps, sweepPolls, deliver, savedToFile }: SweepOptions): Promise<void> {
  const { db, clock, log, queue, stateDir } = deps;
  await importOrphanedIds(db, { directory: stateDir, log, now: clock.now(), queue });
  await saveUnsavedIds(deps);
  await saveReportsOfUnsavedRuns(deps, savedToFile);
  await flushUnchargedFailures(deps);
  await endExpiredPlans(deps);
  await sweepPolls();
  await markInterruptedSearches(db, log, clock.now());
  await releaseFiles(db);
  await deliver();
}
