/** Deletes expired slots and dead processes; on PostgreSQL also processes silent for a week that hold nothing. */

import type { Database } from "../../store/database.ts";
import { isShared } from "../../store/dialect.ts";
import { fileHolders } from "../../store/held-files.ts";
import { forgetDeadProcesses, forgetProcesses, silentProcesses } from "../../store/processes.ts";
import { forgetExpiredSlots } from "../../store/slots.ts";
import { runHolders } from "../scheduling/claim-store.ts";

export async function forgetStaleProcesses(db: Database, now: number): Promise<void> {
  await forgetExpiredSlots(db, now);
  await forgetDeadProcesses(db);
  if (!isShared(db)) return;
  // For example killed containers, whose death cannot be observed.
  const silent = await silentProcesses(db, now);
  if (silent.length === 0) return;
  const holders = new Set([...(await runHolders(db)), ...(await fileHolders(db))]);
  await forgetProcesses(
    db,
    silent.filter((processId) => !holders.has(processId)),
  );
}
