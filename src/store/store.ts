/** Opens the database of this installation and registers this process in it. */

import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { thisProcess } from "../platform/process-identity.ts";
import type { Database, OpenDatabase } from "./database.ts";
import { hostHere } from "./dialect.ts";
import { warnIfMigrated } from "./migrate-to-postgres.ts";
import { forgetProcess, registerProcess } from "./processes.ts";
import type { RunNotifications } from "./postgres/run-notifications.ts";
import { openInstalled } from "./sqlite/sqlite.ts";

export interface Store {
  db: Database;
  processId: string;
  /** Identifies the machine, and the container if several share a PostgreSQL database. */
  machine: string;
  /** Why new data would be lost; undefined if it is stored. */
  obstacle: OpenDatabase["obstacle"];
  /** Notifications about changed runs; PostgreSQL only. */
  notifications: RunNotifications | undefined;
  close(): Promise<void>;
}

interface SharedDatabase {
  url: string;
  connections?: number;
}

export interface StoreOptions {
  /** Undefined: the database is in memory. */
  file: string | undefined;
  /** A PostgreSQL database to use instead of the file. */
  shared?: SharedDatabase | undefined;
  clock: Clock;
  log: Log;
  version?: string | undefined;
}

export async function openStore({ file, shared, clock, log, version }: StoreOptions): Promise<Store> {
  const identity = { ...thisProcess(), version };
  const register = (db: Database): Promise<void> =>
    registerProcess(db, { ...identity, host: hostHere(db) }, clock.now());
  const opened = await (shared === undefined
    ? openInstalled(file ?? ":memory:", log, async (db) => {
        await register(db);
        await warnIfMigrated(db, log);
      })
    : openShared(shared, log, { ...identity, register }));
  const { db, obstacle, notifications } = opened;
  const renewal = shared === undefined ? undefined : renewHourly(() => register(db));
  return {
    db,
    processId: identity.processId,
    machine: hostHere(db),
    obstacle,
    notifications,
    close: async () => {
      clearInterval(renewal);
      await forgetProcess(db, identity.processId).catch(() => undefined);
      await opened.close();
    },
  };
}

type Register = (db: Database) => Promise<void>;

/** Other machines delete the row of a process that has not renewed it for days. */
const renewHourly = (renew: () => Promise<void>): NodeJS.Timeout =>
  setInterval(() => void renew().catch(() => undefined), 3_600_000).unref();

/** No fallback: a configured PostgreSQL database must be used or reported as an error. */
async function openShared(
  shared: SharedDatabase,
  log: Log,
  { processId, register }: { processId: string; register: Register },
): Promise<OpenDatabase> {
  const { openPostgres } = await import("./postgres/postgres.ts");
  const opened = await openPostgres({ ...shared, log });
  if ((await opened.obstacle()) !== undefined) return opened;
  try {
    await register(opened.db);
    return opened;
  } catch (error) {
    // Without its row in `processes`, other machines would treat this process as dead.
    await forgetProcess(opened.db, processId).catch(() => undefined);
    await opened.close().catch(() => undefined);
    throw error;
  }
}
