/** The state of this installation: its database, or one in memory where the disk does not allow one. */

import { AppError } from "../errors.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { thisProcess } from "../platform/process-identity.ts";
import type { Database } from "./database.ts";
import { forgetProcess, registerProcess } from "./processes.ts";
import { type OpenDatabase, openSqlite, storageError } from "./sqlite.ts";

export interface Store {
  db: Database;
  processId: string;
  /** False when nothing outlives this process. */
  durable: boolean;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Undefined: the config directory cannot be written. */
  file: string | undefined;
  clock: Clock;
  log: Log;
}

export async function openStore({ file, clock, log }: StoreOptions): Promise<Store> {
  const onDisk = file === undefined ? undefined : await openFile(file, log);
  const { db, writable, close } = onDisk ?? (await openSqlite(":memory:", log));
  const self = thisProcess();
  if (writable) {
    await registerProcess(db, self, clock.now()).catch(() => {
      log.warn("This process could not be registered in the database; another one may take it for dead.");
    });
  }
  return {
    db,
    processId: self.processId,
    durable: onDisk !== undefined && writable,
    close: async () => {
      if (writable) await forgetProcess(db, self.processId).catch(() => undefined);
      await close();
    },
  };
}

async function openFile(file: string, log: Log): Promise<OpenDatabase | undefined> {
  try {
    return await openSqlite(file, log);
  } catch (error) {
    const known = storageError(error);
    const why = known instanceof AppError ? known.message : "it cannot be opened.";
    log.warn(`The database ${file} is not usable: ${why} Searches work, but nothing is kept after this process ends.`);
    return undefined;
  }
}
