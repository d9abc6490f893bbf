/** Opens SQLite databases with node:sqlite: pragmas, permissions, backup and schema migration. */

import { chmodSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { Log } from "../../platform/log.ts";
import type { Database, OpenDatabase } from "../database.ts";
import { migrate, schemaState } from "../migrate.ts";
import { overwriteDeletedWords } from "../full-text.ts";
import { backupOf } from "../old-backups.ts";
import { retryWhileBusy } from "./busy.ts";
import { type Handles, kyselyOn } from "./driver.ts";
import { closeHandles, fixed, openReplaceableFile, type Replacement } from "./replaceable-file.ts";

/** For commands that read once and exit. Servers wait without blocking: see busy.ts. */
const READ_TIMEOUT_MS = 5_000;

/** Before 3.51.3 two writing processes could corrupt a WAL file (sqlite.org/wal.html#walresetbug). */
const SAFE_SQLITE = [3, 51, 3];

const IN_MEMORY = ":memory:";

/** `replacement` copies data to the new file when the open one is replaced. */
export async function openSqlite(
  file: string,
  log: Log,
  replacement: Partial<Replacement> = {},
): Promise<OpenDatabase> {
  let writable = true;
  const open = async (): Promise<Handles> => {
    const opened = await openHandles(file, log);
    writable = opened.writable;
    return opened.handles;
  };
  const carryOver = replacement.carryOver ?? (async () => async () => {});
  const source =
    file === IN_MEMORY ? fixed(file, await open()) : await openReplaceableFile({ file, log, open, carryOver });
  const db = kyselyOn(source);
  return { db, writable, close: () => db.destroy() };
}

async function openHandles(file: string, log: Log): Promise<{ handles: Handles; writable: boolean }> {
  const { DatabaseSync: Driver } = await importDriver();
  const writer = new Driver(file, { timeout: 0 });
  let handles: Handles = { writer, reader: writer };
  try {
    // The journal mode of a new file can be set only while no other process has it open.
    await retryWhileBusy(() => prepare(writer, file, log));
    if (file !== IN_MEMORY) handles = { writer, reader: new Driver(file, { timeout: 0, readOnly: true }) };
    const writable = await bringUpToDate(kyselyOn(fixed(file, handles)), { handle: writer, file, log });
    return { handles, writable };
  } catch (error) {
    closeHandles(handles);
    throw error;
  }
}

/** Opens the file read-only, without migrating the schema, and checks its integrity. */
export function readOnly<T>(file: string, read: (db: Database, integrity: string) => Promise<T>): Promise<T> {
  return peek(file, (db, handle) =>
    read(db, String(handle.prepare("pragma integrity_check").get()?.["integrity_check"])),
  );
}

/** Like `readOnly`, without the integrity check, which reads the whole file. */
export async function peek<T>(file: string, read: (db: Database, handle: DatabaseSync) => Promise<T>): Promise<T> {
  const { DatabaseSync: Driver } = await importDriver();
  const handle = new Driver(file, { timeout: READ_TIMEOUT_MS, readOnly: true });
  const db = kyselyOn(fixed(file, { writer: handle, reader: handle }));
  try {
    return await read(db, handle);
  } finally {
    await db.destroy();
  }
}

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

/** Up to Node 24.14 the import prints an ExperimentalWarning, which users mistake for an error. */
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
      `This Node includes SQLite ${version}, which can damage a database that several processes write. Use Node 22.22.3, 24.15 or later.`,
    );
  }
  handle.exec("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;");
  // Checkpoints are made by replaceable-file.ts, which must know whose writes changed the database file.
  handle.exec("pragma journal_size_limit = 16777216; pragma wal_autocheckpoint = 0;");
  // Overwrites deleted content, which would otherwise stay in the file.
  handle.exec("pragma secure_delete = on;");
  if (process.platform === "darwin") {
    handle.exec("pragma fullfsync = on; pragma checkpoint_fullfsync = on;");
  }
  if (file !== IN_MEMORY) {
    for (const suffix of ["", "-wal", "-shm"]) chmodIfPresent(file + suffix);
  }
}

function isOlder(version: string, than: number[]): boolean {
  const parts = version.split(".").map(Number);
  for (const [index, wanted] of than.entries()) {
    const part = parts[index] ?? 0;
    if (part !== wanted) return part < wanted;
  }
  return false;
}

function chmodIfPresent(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch {
    // The WAL files exist only while a process writes.
  }
}

async function bringUpToDate(
  db: Database,
  { handle, file, log }: { handle: DatabaseSync; file: string; log: Log },
): Promise<boolean> {
  const state = await schemaState(db);
  if (state === "newer") {
    handle.exec("pragma query_only = on");
    log.warn(
      `${file} was written by a newer gemini-search-mcp. It is opened read-only; update this installation to store new runs.`,
    );
    return false;
  }
  if (state === "older") {
    const copy = backupOf(file, Date.now());
    handle.prepare("vacuum into ?").run(copy);
    chmodIfPresent(copy);
  }
  if (state !== "current") await migrate(db);
  // Can fail on a full disk; the next process tries again.
  await overwriteDeletedWords(db).catch(() => log.debug("The search index does not overwrite deleted words yet."));
  return true;
}
