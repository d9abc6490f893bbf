/** Rows of processes that are gone: at once where that is known, else when nothing has been theirs for a week. */

import type { Database } from "../../store/database.ts";
import { isShared } from "../../store/dialect.ts";
import { fileHolders } from "../../store/held-files.ts";
import { forgetDeadProcesses, forgetProcesses, silentProcesses } from "../../store/processes.ts";
import { slotHolders } from "../../store/slots.ts";
import { runHolders } from "../scheduling/claim-store.ts";

export async function forgetStaleProcesses(db: Database, now: number): Promise<void> {
  await forgetDeadProcesses(db);
  if (!isShared(db)) return;
  // Containers that were killed.
  const silent = await silentProcesses(db, now);
  if (silent.length === 0) return;
  const holders = new Set([...(await runHolders(db)), ...(await slotHolders(db)), ...(await fileHolders(db))]);
  await forgetProcesses(
    db,
    silent.filter((processId) => !holders.has(processId)),
  );
}
