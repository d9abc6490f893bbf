/** The state of this installation: its database, or one in memory where the disk does not allow one. */

import { AppError } from "../errors.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { thisProcess } from "../platform/process-identity.ts";
import type { Database, OpenDatabase } from "./database.ts";
import { hostHere } from "./dialect.ts";
import { refuseHalfMoved, warnIfMoved } from "./migrate-to-postgres/progress.ts";
import { forgetProcess, registerProcess } from "./processes.ts";
import type { RunNotifications } from "./postgres/run-notifications.ts";
import { openSqlite } from "./sqlite/sqlite.ts";
import { storageError } from "./sqlite/errors.ts";
import type { Replacement } from "./sqlite/followed-file.ts";

export interface Store {
  db: Database;
  processId: string;
  /** Differs from machine to machine, and from container to container where they share a database. */
  machine: string;
  /** False when nothing outlives this process. */
  durable: boolean;
  /** Of changed runs, where the database sends them. */
  notifications: RunNotifications | undefined;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Undefined: the config directory cannot be written. */
  file: string | undefined;
  /** A PostgreSQL instead of the file. */
  shared?: { url: string; connections: number } | undefined;
  clock: Clock;
  log: Log;
  /** Of this program. */
  version?: string | undefined;
  /** What another file is given when it takes the place of the open one. */
  carryOver?: Replacement["carryOver"] | undefined;
}

export async function openStore({ file, shared, clock, log, version, carryOver }: StoreOptions): Promise<Store> {
  const identity = { ...thisProcess(), version };
  const replacement: Replacement = {
    carryOver: async (from) => {
      const carry = await carryOver?.(from);
      return async (to) => {
        await registerProcess(to, identity, clock.now());
        await carry?.(to);
      };
    },
  };
  const opened = await (shared === undefined ? openHere(file, log, replacement) : openShared(shared, log));
  const { db, writable, close } = opened;
  const self = { ...identity, host: hostHere(db) };
  if (writable) {
    try {
      await registerProcess(db, self, clock.now());
      // After it: of a move and a process that begin at once, one sees the other.
      await (shared === undefined ? warnIfMoved(db, log) : refuseHalfMoved(db));
    } catch (error) {
      if (shared !== undefined) return await giveUp({ db, close, processId: self.processId }, error);
      log.warn("This process could not be registered in the database; another one may take it for dead.");
    }
  }
  const saying =
    shared === undefined || !writable ? undefined : sayHourly(() => registerProcess(db, self, clock.now()));
  return {
    db,
    processId: self.processId,
    machine: self.host,
    durable: opened.durable,
    notifications: opened.notifications,
    close: async () => {
      clearInterval(saying);
      if (writable) await forgetProcess(db, self.processId).catch(() => undefined);
      await close();
    },
  };
}

/** Machines that cannot see this one forget a process of which they have not heard for days. */
const sayHourly = (say: () => Promise<void>): NodeJS.Timeout =>
  setInterval(() => void say().catch(() => undefined), 3_600_000).unref();

/** Other machines would take its work for that of a dead process at once. */
async function giveUp(
  { db, close, processId }: Pick<Store, "db" | "close" | "processId">,
  error: unknown,
): Promise<never> {
  await forgetProcess(db, processId).catch(() => undefined);
  await close().catch(() => undefined);
  throw error;
}

type Opened = OpenDatabase & { durable: boolean };

/** Never in memory instead: whoever set an address wants what is there, and would find nothing. */
async function openShared(shared: { url: string; connections: number }, log: Log): Promise<Opened> {
  const { openPostgres } = await import("./postgres/postgres.ts");
  const opened = await openPostgres({ ...shared, log });
  return { ...opened, durable: opened.writable };
}

async function openHere(file: string | undefined, log: Log, replacement: Replacement): Promise<Opened> {
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
