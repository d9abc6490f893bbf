/** Releases the poll leases of processes that have died, so that their runs are due at once (SQLite). */

import { processLiveness } from "../../store/processes.ts";
import type { ResearchDeps } from "../deps.ts";
import { leaseHolders, releaseFrom } from "../scheduling/claim-store.ts";

export async function releaseDeadHolders({ db, clock, log }: ResearchDeps): Promise<void> {
  const holders = await leaseHolders(db);
  const liveness = await processLiveness(db, holders);
  const dead = holders.filter((holder) => liveness.get(holder) === "dead");
  const released = await releaseFrom(db, dead, clock.now());
  if (released > 0) {
    const runs = released === 1 ? "run of a process that ended is" : "runs of a process that ended are";
    log.info(`${released} research ${runs} polled again.`);
  }
}
