/** Registry of the processes that use this database, so that what dead ones hold can be released. */

import { hash } from "node:crypto";
import { type Liveness, livenessHere, type ProcessIdentity } from "../platform/process-identity.ts";
import type { Database, Tables } from "./database.ts";
import { databaseNow, hostHere, isShared } from "./dialect.ts";

/** Called at start and hourly: restores the row if another process has removed it. */
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

interface Heartbeat {
  /** Identifies the API key the process polls with. */
  key: string;
  /** Recent polls by outcome, as JSON. */
  polls?: string;
  now: number;
}

/** Sent regularly by processes that poll runs. */
export async function recordHeartbeat(db: Database, processId: string, { key, polls, now }: Heartbeat): Promise<void> {
  const seen_at = await databaseNow(db, now);
  await db
    .updateTable("processes")
    .set({ poll_key: key, polls_json: polls ?? null, seen_at })
    .where("process_id", "=", processId)
    .execute();
}

/** A process without a heartbeat for this long does not respond; several heartbeats. */
const MAX_SILENCE_MS = 60_000;

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

/** A process killed on another machine leaves its row, which is listed for this long. */
const MAX_LISTED_MS = 3_600_000;

/** Processes that poll runs, including those whose heartbeats stopped recently. */
export async function pollingProcesses(db: Database, here: number): Promise<PollingProcess[]> {
  const now = await databaseNow(db, here);
  const rows = await db.selectFrom("processes").selectAll().where("poll_key", "is not", null).execute();
  return rows
    .map((row) => {
      // On SQLite liveness is checked directly, and an idle process sends no heartbeats.
      const writtenAt = isShared(db) ? row.seen_at : now;
      const responds = livenessOf(db, row) !== "dead" && writtenAt > now - MAX_SILENCE_MS;
      return {
        // On PostgreSQL `host` is the host name followed by a machine id.
        host: row.host.split(" ")[0] ?? row.host,
        pid: row.pid,
        version: row.version ?? undefined,
        startedAt: row.started_at,
        lastHeartbeatAt: responds ? writtenAt : row.seen_at,
        responds,
        key: row.poll_key ?? "",
        polls: row.polls_json ?? "[]",
      };
    })
    .filter(({ responds, lastHeartbeatAt }) => responds || lastHeartbeatAt > now - MAX_LISTED_MS);
}

/** The keys that responding processes poll with, on all machines. */
export const polledKeys = async (db: Database, here: number): Promise<string[]> =>
  (await pollingProcesses(db, here)).flatMap(({ responds, key }) => (responds ? key : []));

/** `unknown` for processes on other machines, or where the system cannot tell: their leases decide. */
export async function processLiveness(db: Database, processIds: string[]): Promise<Map<string, Liveness>> {
  const wanted = [...new Set(processIds)];
  if (wanted.length === 0) return new Map();
  const rows = await db.selectFrom("processes").selectAll().where("process_id", "in", wanted).execute();
  const known = new Map(rows.map((row) => [row.process_id, row]));
  return new Map(
    wanted.map((id) => {
      const row = known.get(id);
      // A process removes its row on a clean exit.
      if (row === undefined) return [id, "dead"];
      return [id, livenessOf(db, row)];
    }),
  );
}

/** Process ids are meaningful only on the same machine and in the same container. */
const livenessOf = (db: Database, row: Tables["processes"]): Liveness =>
  row.host === hostHere(db) ? livenessHere({ pid: row.pid, startMark: row.start_mark }) : "unknown";

const processesThat = async (db: Database, are: (liveness: Liveness) => boolean) =>
  (await db.selectFrom("processes").selectAll().execute()).filter((row) => are(livenessOf(db, row)));

/** Processes that are known to be dead. */
export async function deadProcesses(db: Database): Promise<string[]> {
  const dead = await processesThat(db, (liveness) => liveness === "dead");
  return dead.map((row) => row.process_id);
}

/** Live processes renew their row every hour. */
const MAX_UNRENEWED_MS = 7 * 24 * 3_600_000;

/** Processes without a heartbeat for seven days. */
export async function silentProcesses(db: Database, here: number): Promise<string[]> {
  const before = (await databaseNow(db, here)) - MAX_UNRENEWED_MS;
  const rows = await db.selectFrom("processes").select("process_id").where("seen_at", "<", before).execute();
  return rows.map(({ process_id }) => process_id);
}

export async function forgetProcesses(db: Database, processIds: readonly string[]): Promise<void> {
  if (processIds.length === 0) return;
  await db.deleteFrom("processes").where("process_id", "in", processIds).execute();
}

/** Processes on this machine that are known to be alive. */
export async function liveProcesses(db: Database): Promise<{ pid: number; startedAt: number }[]> {
  const alive = await processesThat(db, (liveness) => liveness === "alive");
  return alive.map((row) => ({ pid: row.pid, startedAt: row.started_at }));
}

/** Processes on any machine that are not known to be dead. */
export const processesLeft = (db: Database): Promise<{ pid: number }[]> =>
  processesThat(db, (liveness) => liveness !== "dead");

interface PollAccess {
  /** Fingerprint of the API key, which itself is not stored. Undefined when no key is used. */
  key: string | undefined;
  baseUrl: string;
}

/** Machines may use different base URLs for one key, so the URL counts only without a key. */
export const pollKeyOf = ({ key, baseUrl }: PollAccess): string =>
  hash("sha256", JSON.stringify(key === undefined || key === "" ? ["", baseUrl] : [key])).slice(0, 16);
