/** Deletes dead processes with their slots, and expired slots; on PostgreSQL also processes silent for a week that hold nothing. */

import type { Database } from "../../store/database.ts";
import { isShared } from "../../store/dialect.ts";
import { deadProcesses, forgetProcesses, silentProcesses } from "../../store/processes.ts";
import { forgetSlots } from "../../store/slots.ts";
import { runHolders } from "../scheduling/polled-store.ts";

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
