/** Opens the database of this installation, or one in memory when the file cannot be used. */

import { AppError } from "../errors.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { thisProcess } from "../platform/process-identity.ts";
import type { Database, OpenDatabase } from "./database.ts";
import { hostHere } from "./dialect.ts";
import { rejectUnfinishedMigration, warnIfMigrated } from "./migrate-to-postgres/progress.ts";
import { forgetProcess, registerProcess } from "./processes.ts";
import type { RunNotifications } from "./postgres/run-notifications.ts";
import { openSqlite } from "./sqlite/sqlite.ts";
import { storageError } from "./sqlite/errors.ts";
import type { Replacement } from "./sqlite/replaceable-file.ts";

export interface Store {
  db: Database;
  processId: string;
  /** Identifies the machine, and the container if several share a PostgreSQL database. */
  machine: string;
  /** False when new data is lost at the end of this process. */
  durable: boolean;
  /** Notifications about changed runs; PostgreSQL only. */
  notifications: RunNotifications | undefined;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Undefined when the config directory cannot be written. */
  file: string | undefined;
  /** A PostgreSQL database to use instead of the file. */
  shared?: { url: string; connections: number } | undefined;
  clock: Clock;
  log: Log;
  version?: string | undefined;
  /** Copies data to the new file when the open one is replaced. */
  carryOver?: Replacement["carryOver"] | undefined;
}

export async function openStore({ file, shared, clock, log, version, carryOver }: StoreOptions): Promise<Store> {
  const identity = { ...thisProcess(), version };
  const replacement: Replacement = {
    carryOver: async (old) => {
      const carry = await carryOver?.(old);
      return async (to) => {
        await registerProcess(to, identity, clock.now());
        await carry?.(to);
      };
    },
  };
  const opened = await (shared === undefined ? openLocal(file, log, replacement) : openShared(shared, log));
  const { db, writable, close } = opened;
  const self = { ...identity, host: hostHere(db) };
  if (writable) {
    try {
      await registerProcess(db, self, clock.now());
      // After the registration: if a migration starts at the same time, at least one of the two detects the other.
      await (shared === undefined ? warnIfMigrated(db, log) : rejectUnfinishedMigration(db));
    } catch (error) {
      if (shared !== undefined) return await closeAndThrow({ db, close, processId: self.processId }, error);
      log.warn("This process could not be registered in the database; other processes may treat it as dead.");
    }
  }
  const renewal =
    shared === undefined || !writable ? undefined : renewHourly(() => registerProcess(db, self, clock.now()));
  return {
    db,
    processId: self.processId,
    machine: self.host,
    durable: opened.durable,
    notifications: opened.notifications,
    close: async () => {
      clearInterval(renewal);
      if (writable) await forgetProcess(db, self.processId).catch(() => undefined);
      await close();
    },
  };
}

/** Other machines delete the row of a process that has not renewed it for days. */
const renewHourly = (renew: () => Promise<void>): NodeJS.Timeout =>
  setInterval(() => void renew().catch(() => undefined), 3_600_000).unref();

/** Without its row in `processes`, other machines would treat this process as dead. */
async function closeAndThrow(
  { db, close, processId }: Pick<Store, "db" | "close" | "processId">,
  error: unknown,
): Promise<never> {
  await forgetProcess(db, processId).catch(() => undefined);
  await close().catch(() => undefined);
  throw error;
}

type Opened = OpenDatabase & { durable: boolean };

/** No fallback to memory: a configured PostgreSQL database must be used or reported as an error. */
async function openShared(shared: { url: string; connections: number }, log: Log): Promise<Opened> {
  const { openPostgres } = await import("./postgres/postgres.ts");
  const opened = await openPostgres({ ...shared, log });
  return { ...opened, durable: opened.writable };
}

async function openLocal(file: string | undefined, log: Log, replacement: Replacement): Promise<Opened> {
  const onDisk = file === undefined ? undefined : await openFile(file, log, replacement);
  if (onDisk !== undefined) return { ...onDisk, durable: onDisk.writable };
  return { ...(await openSqlite(":memory:", log)), durable: false };
}

async function openFile(file: string, log: Log, replacement: Replacement): Promise<OpenDatabase | undefined> {
  try {
    return await openSqlite(file, log, replacement);
  } catch (error) {
    const known = storageError(error, file);
    const why = known instanceof AppError ? known.message : "it cannot be opened.";
    log.warn(`The database ${file} is not usable: ${why} Searches work, but nothing is kept after this process ends.`);
    return undefined;
  }
}
