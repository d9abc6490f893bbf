/** Deletes the rows of dead processes, and on PostgreSQL those without a heartbeat for a week that hold nothing. */

import type { Database } from "../../store/database.ts";
import { isShared } from "../../store/dialect.ts";
import { fileHolders } from "../../store/held-files.ts";
import { forgetDeadProcesses, forgetProcesses, silentProcesses } from "../../store/processes.ts";
import { slotHolders } from "../../store/slots.ts";
import { runHolders } from "../scheduling/claim-store.ts";

export async function forgetStaleProcesses(db: Database, now: number): Promise<void> {
  await forgetDeadProcesses(db);
  if (!isShared(db)) return;
  // For example killed containers, whose death cannot be observed.
  const silent = await silentProcesses(db, now);
  if (silent.length === 0) return;
  const holders = new Set([...(await runHolders(db)), ...(await slotHolders(db)), ...(await fileHolders(db))]);
  await forgetProcesses(
    db,
    silent.filter((processId) => !holders.has(processId)),
  );
}
