/** SQLite through Node's built-in driver: the dialect for Kysely, and how the file is opened. */

import { chmodSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { Kysely, SqliteAdapter, SqliteDialect, type SqliteDatabase } from "kysely";
import { AppError } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import type { Database, OpenDatabase } from "./database.ts";
import { migrate, schemaState } from "./migrate.ts";

const BUSY_TIMEOUT_MS = 5_000;

/** Before 3.51.3 two writing processes could corrupt a WAL file (sqlite.org/wal.html#walresetbug). */
const SAFE_SQLITE = [3, 51, 3];

export async function openSqlite(file: string, log: Log): Promise<OpenDatabase> {
  const { DatabaseSync: Driver } = await importDriver();
  const handle = new Driver(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    prepare(handle, file, log);
    const db: Database = new Kysely({ dialect: new NodeSqliteDialect({ database: forKysely(handle) }) });
    const writable = await bringUpToDate(db, handle, file, log);
    return { db, writable, close: () => db.destroy() };
  } catch (error) {
    handle.close();
    throw error;
  }
}

/** A look that changes nothing, not even the schema. */
export function readOnly<T>(file: string, look: (db: Database, integrity: string) => Promise<T>): Promise<T> {
  return peek(file, (db, handle) =>
    look(db, String(handle.prepare("pragma integrity_check").get()?.["integrity_check"])),
  );
}

/** The same without the check, which reads the whole file. */
export async function peek<T>(file: string, look: (db: Database, handle: DatabaseSync) => Promise<T>): Promise<T> {
  const { DatabaseSync: Driver } = await importDriver();
  const handle = new Driver(file, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  const db: Database = new Kysely({ dialect: new NodeSqliteDialect({ database: forKysely(handle) }) });
  try {
    return await look(db, handle);
  } finally {
    await db.destroy();
  }
}

/** Of the SQLite that this Node brings. */
export async function sqliteVersion(): Promise<string> {
  const { DatabaseSync: Driver } = await importDriver();
  const handle = new Driver(":memory:");
  try {
    return versionOf(handle);
  } finally {
    handle.close();
  }
}

const versionOf = (handle: DatabaseSync): string =>
  String(handle.prepare("select sqlite_version() as version").get()?.["version"]);

export const isSafeSqlite = (version: string): boolean => !isOlder(version, SAFE_SQLITE);

/** Up to Node 24.14 the import prints an ExperimentalWarning, which users take for a fault. */
async function importDriver(): Promise<typeof import("node:sqlite")> {
  const emitWarning = process.emitWarning;
  process.emitWarning = () => {};
  try {
    return await import("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}

function prepare(handle: DatabaseSync, file: string, log: Log): void {
  const version = versionOf(handle);
  if (!isSafeSqlite(version)) {
    log.warn(
      `This Node brings SQLite ${version}, which can damage a database that several processes write. Use Node 22.22.3, 24.15 or later.`,
    );
  }
  handle.exec("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;");
  handle.exec("pragma journal_size_limit = 16777216;");
  if (process.platform === "darwin") {
    handle.exec("pragma fullfsync = on; pragma checkpoint_fullfsync = on;");
  }
  if (file !== ":memory:") {
    for (const suffix of ["", "-wal", "-shm"]) chmodIfPresent(file + suffix);
  }
}

function isOlder(version: string, than: number[]): boolean {
  const parts = version.split(".").map(Number);
  for (const [place, wanted] of than.entries()) {
    const part = parts[place] ?? 0;
    if (part !== wanted) return part < wanted;
  }
  return false;
}

function chmodIfPresent(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch {
    // The WAL files exist only while somebody writes.
  }
}

async function bringUpToDate(db: Database, handle: DatabaseSync, file: string, log: Log): Promise<boolean> {
  const state = await schemaState(db);
  if (state === "newer") {
    handle.exec("pragma query_only = on");
    log.warn(
      `${file} was written by a newer gemini-search-mcp. It is only read from here; update this one to keep new runs.`,
    );
    return false;
  }
  if (state === "older") {
    const copy = `${file}.before-update-${Date.now()}`;
    handle.prepare("vacuum into ?").run(copy);
    chmodIfPresent(copy);
  }
  if (state !== "current") await migrate(db);
  return true;
}

class NodeSqliteDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new TransactionalDdlAdapter();
  }
}

/** SQLite does roll DDL back, and `begin immediate` is the lock between migrating processes. */
class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function forKysely(handle: DatabaseSync): SqliteDatabase {
  return {
    close: () => handle.close(),
    prepare: (text) => {
      // A deferred transaction that reads first cannot wait for the write lock later: it fails at once.
      const statement = handle.prepare(text === "begin" ? "begin immediate" : text);
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => guarded(() => statement.all(...parameters.map(bindable))),
        run: (parameters) => guarded(() => statement.run(...parameters.map(bindable))),
        iterate: (parameters) => guarded(() => statement.iterate(...parameters.map(bindable))),
      };
    },
  };
}

type Bindable = null | number | bigint | string | Uint8Array;

function bindable(value: unknown): Bindable {
  if (value === undefined || value === null) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "string") return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`A ${typeof value} cannot be stored.`);
}

const SQLITE_FULL = 13;
const SQLITE_READONLY = 8;
const SQLITE_CANTOPEN = 14;

/** The driver's messages name files and statements; ours say what to do. */
function guarded<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw storageError(error);
  }
}

export function storageError(error: unknown): unknown {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return error;
  const kind = error.errcode & 0xff;
  if (kind === SQLITE_FULL) {
    return new AppError({
      code: "DISK_FULL",
      message: "The database cannot grow because the disk is full.",
      suggestion: "Free some space on the disk that holds the config directory.",
      cause: error,
    });
  }
  const denied = kind === SQLITE_READONLY || kind === SQLITE_CANTOPEN;
  return new AppError({
    code: "SQLITE_ERROR",
    message: denied ? "The database cannot be written." : "The database did not carry out a request.",
    suggestion: "Check the config directory and its permissions, or set GEMINI_SEARCH_CONFIG_DIR.",
    cause: error,
  });
}
