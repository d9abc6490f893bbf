/** The processes that use this database, so that what a dead one held can be given back. */

import { type Liveness, livenessHere, type ProcessIdentity } from "../platform/process-identity.ts";
import type { Database, Tables } from "./database.ts";
import { hostHere, isShared, databaseNow } from "./dialect.ts";

/** Said once, and now and then again: a row that was taken for a dead one's is there anew. */
export async function registerProcess(
  db: Database,
  self: ProcessIdentity & { version?: string | undefined },
  now: number,
): Promise<void> {
  const seen_at = await databaseNow(db, now);
  await db
    .insertInto("processes")
    .values({
      process_id: self.processId,
      host: self.host,
      pid: self.pid,
      start_mark: self.startMark,
      started_at: now,
      seen_at,
      version: self.version ?? null,
    })
    .onConflict((conflict) => conflict.column("process_id").doUpdateSet({ seen_at }))
    .execute();
}

export const forgetProcess = (db: Database, processId: string): Promise<void> => forgetProcesses(db, [processId]);

export interface Heartbeat {
  /** That it polls with. */
  key: string;
  /** Its polls of the last minutes, as JSON. */
  polls?: string;
  now: number;
}

/** Repeated by a process that polls runs. */
export async function recordHeartbeat(db: Database, processId: string, { key, polls, now }: Heartbeat): Promise<void> {
  const seen_at = await databaseNow(db, now);
  await db
    .updateTable("processes")
    .set({ poll_key: key, polls_json: polls ?? null, seen_at })
    .where("process_id", "=", processId)
    .execute();
}

/** Several heartbeats. */
const SILENT_MS = 60_000;

/** The keys with which runs are polled, on whatever machine. */
export async function polledKeys(db: Database, here: number): Promise<string[]> {
  const rows = await db
    .selectFrom("processes")
    .selectAll()
    .where("poll_key", "is not", null)
    .where("seen_at", ">", (await databaseNow(db, here)) - SILENT_MS)
    .execute();
  return [...new Set(rows.filter((row) => livenessOf(db, row) !== "dead").flatMap(({ poll_key }) => poll_key ?? []))];
}

export interface PollingProcess {
  host: string;
  pid: number;
  version: string | undefined;
  startedAt: number;
  lastHeartbeatAt: number;
  responds: boolean;
  key: string;
  polls: string;
}

/** A process of another machine that was killed leaves its row: after so long it is not shown any more. */
const SHOWN_MS = 3_600_000;

/** Processes that poll runs, and those that did until lately and have stopped sending heartbeats. */
export async function pollingProcesses(db: Database, here: number): Promise<PollingProcess[]> {
  const now = await databaseNow(db, here);
  const rows = await db.selectFrom("processes").selectAll().where("poll_key", "is not", null).execute();
  return rows
    .map((row) => {
      // In a file every process can be told alive from dead, and one that has nothing to poll writes nothing.
      const writtenAt = isShared(db) ? (row.seen_at ?? row.started_at) : now;
      const responds = livenessOf(db, row) !== "dead" && writtenAt > now - SILENT_MS;
      return {
        // On a shared database more than the name is in it.
        host: row.host.split(" ")[0] ?? row.host,
        pid: row.pid,
        version: row.version ?? undefined,
        startedAt: row.started_at,
        lastHeartbeatAt: responds ? writtenAt : (row.seen_at ?? row.started_at),
        responds,
        key: row.poll_key ?? "",
        polls: row.polls_json ?? "[]",
      };
    })
    .filter(({ responds, lastHeartbeatAt }) => responds || lastHeartbeatAt > now - SHOWN_MS);
}

/** `unknown` (another machine, or a system that does not tell) leaves it to the lease. */
export async function processLiveness(db: Database, processIds: string[]): Promise<Map<string, Liveness>> {
  const wanted = [...new Set(processIds)];
  if (wanted.length === 0) return new Map();
  const rows = await db.selectFrom("processes").selectAll().where("process_id", "in", wanted).execute();
  const known = new Map(rows.map((row) => [row.process_id, row]));
  return new Map(
    wanted.map((id) => {
      const row = known.get(id);
      // A process removes its row when it leaves in order: what it still holds, nobody owns.
      if (row === undefined) return [id, "dead"];
      return [id, livenessOf(db, row)];
    }),
  );
}

/** On another machine nobody can tell from here, nor in another container, where the same numbers mean others. */
const livenessOf = (db: Database, row: Tables["processes"]): Liveness =>
  row.host === hostHere(db) ? livenessHere({ pid: row.pid, startMark: row.start_mark }) : "unknown";

/** Rows of processes that are surely gone serve nobody once nothing refers to them. */
export async function forgetDeadProcesses(db: Database): Promise<void> {
  const rows = await db.selectFrom("processes").selectAll().execute();
  const dead = rows.filter((row) => livenessOf(db, row) === "dead");
  await forgetProcesses(
    db,
    dead.map((row) => row.process_id),
  );
}

/** Who is there says so every hour. */
const FORGOTTEN_MS = 7 * 24 * 3_600_000;

/** Those of which nobody can tell whether they are gone, and nobody has heard for long. */
export async function silentProcesses(db: Database, here: number): Promise<string[]> {
  const before = (await databaseNow(db, here)) - FORGOTTEN_MS;
  const rows = await db
    .selectFrom("processes")
    .select("process_id")
    .where((row) => row.fn.coalesce("seen_at", "started_at"), "<", before)
    .execute();
  return rows.map(({ process_id }) => process_id);
}

export async function forgetProcesses(db: Database, processIds: readonly string[]): Promise<void> {
  if (processIds.length === 0) return;
  await db.deleteFrom("processes").where("process_id", "in", processIds).execute();
}

/** Those on this machine that are surely there. */
export async function liveProcesses(db: Database): Promise<{ pid: number; startedAt: number }[]> {
  const rows = await db.selectFrom("processes").selectAll().execute();
  return rows
    .filter((row) => livenessOf(db, row) === "alive")
    .map((row) => ({ pid: row.pid, startedAt: row.started_at }));
}

/** All that are not surely gone, wherever they are. */
export async function processesLeft(db: Database): Promise<{ pid: number }[]> {
  const rows = await db.selectFrom("processes").selectAll().execute();
  return rows.filter((row) => livenessOf(db, row) !== "dead").map(({ pid }) => ({ pid }));
}
