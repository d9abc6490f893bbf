/** The processes that use this database, so that what a dead one held can be given back. */

import { liveness, type ProcessIdentity } from "../platform/process-identity.ts";
import type { Database } from "./database.ts";

export async function registerProcess(db: Database, self: ProcessIdentity, now: number): Promise<void> {
  await db
    .insertInto("processes")
    .values({
      process_id: self.processId,
      host: self.host,
      pid: self.pid,
      start_mark: self.startMark,
      started_at: now,
    })
    .execute();
}

export async function forgetProcess(db: Database, processId: string): Promise<void> {
  await db.deleteFrom("processes").where("process_id", "=", processId).execute();
}

/** `unknown` (another machine, or a system that does not tell) leaves it to the lease. */
export async function processLiveness(
  db: Database,
  processIds: string[],
): Promise<Map<string, "alive" | "dead" | "unknown">> {
  const wanted = [...new Set(processIds)];
  if (wanted.length === 0) return new Map();
  const rows = await db.selectFrom("processes").selectAll().where("process_id", "in", wanted).execute();
  const known = new Map(rows.map((row) => [row.process_id, row]));
  return new Map(
    wanted.map((id) => {
      const row = known.get(id);
      // A process removes its row when it leaves in order: what it still holds, nobody owns.
      if (row === undefined) return [id, "dead"];
      return [id, liveness({ host: row.host, pid: row.pid, startMark: row.start_mark })];
    }),
  );
}

/** Rows of processes that are surely gone serve nobody once nothing refers to them. */
export async function forgetDeadProcesses(db: Database): Promise<void> {
  const rows = await db.selectFrom("processes").selectAll().execute();
  const dead = rows.filter((row) => liveness({ host: row.host, pid: row.pid, startMark: row.start_mark }) === "dead");
  if (dead.length === 0) return;
  const ids = dead.map((row) => row.process_id);
  await db.deleteFrom("processes").where("process_id", "in", ids).execute();
}

/** Those on this machine that are surely there. */
export async function liveProcesses(db: Database): Promise<{ pid: number; startedAt: number }[]> {
  const rows = await db.selectFrom("processes").selectAll().execute();
  return rows
    .filter((row) => liveness({ host: row.host, pid: row.pid, startMark: row.start_mark }) === "alive")
    .map((row) => ({ pid: row.pid, startedAt: row.started_at }));
}
