/** Opens SQLite databases with node:sqlite: pragmas, permissions, backup and schema migration. */

import { chmodSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { Log } from "../../platform/log.ts";
import type { Database, OpenDatabase } from "../database.ts";
import { foreignSchema, migrate, MIGRATIONS, newerSchema, schemaState } from "../migrate.ts";
import { backupOf } from "../deleted-text.ts";
import { retryWhileBusy } from "./busy.ts";
import { closeHandles, fixed, type Handles, type HandleSource, kyselyOn } from "./driver.ts";
import { isBusy } from "./errors.ts";
import { openWithFallback, type ReadOnlyFile } from "./fallback.ts";
import { openedFile } from "./opened-file.ts";

/** For commands that read once and exit. Servers wait without blocking: see busy.ts. */
const READ_TIMEOUT_MS = 5_000;

/** Before 3.51.3 two writing processes could corrupt a WAL file (sqlite.org/wal.html#walresetbug). */
const SAFE_SQLITE = [3, 51, 3];

const IN_MEMORY = ":memory:";

/** Opens a file for reading and writing, or throws. */
export async function openSqlite(file: string, log: Log, migrations = MIGRATIONS): Promise<OpenDatabase> {
  const db = kyselyOn(await openWritable({ file, log, migrations }));
  return { db, obstacle: async () => undefined, close: () => db.destroy() };
}

/**
 * Opens the database of an installation, which stays readable while it cannot be written. `onWritable` is called once it
 * can be written; if it fails, the database counts as not writable.
 */
export async function openInstalled(
  file: string,
  log: Log,
  onWritable: (db: Database) => Promise<void>,
): Promise<OpenDatabase> {
  const source = await openWithFallback({
    file,
    log,
    openWritable: () => opening(openWritable({ file, log }), onWritable),
    openReadOnly: () => openReadOnly(file),
    openInMemory: async () => {
      const memory = fixed(IN_MEMORY, await openHandles({ file: IN_MEMORY, log }));
      await opening(Promise.resolve(memory), onWritable);
      return memory.forWriting();
    },
  });
  const db = kyselyOn(source);
  return {
    db,
    obstacle: async () => {
      // A write is what opens the file again, if that is possible by now.
      if (source.obstacle() !== undefined) await db.transaction().execute(nothing).catch(nothing);
      return source.obstacle();
    },
    close: () => db.destroy(),
  };
}

const nothing = async (): Promise<void> => {};

async function opening(
  opened: Promise<HandleSource>,
  onWritable: (db: Database) => Promise<void>,
): Promise<HandleSource> {
  const source = await opened;
  try {
    await onWritable(kyselyOn(source));
    return source;
  } catch (error) {
    source.close();
    throw error;
  }
}

interface WritableFile {
  file: string;
  log: Log;
  migrations?: typeof MIGRATIONS;
}

async function openWritable(options: WritableFile): Promise<HandleSource> {
  const { file, log } = options;
  const handles = await openHandles(options);
  return file === IN_MEMORY ? fixed(file, handles) : openedFile(file, handles, log);
}

async function openHandles(options: WritableFile): Promise<Handles> {
  const { file, log } = options;
  const { DatabaseSync: Driver } = await importDriver();
  const writer = new Driver(file, { timeout: 0 });
  let handles: Handles = { writer, reader: writer };
  try {
    // The journal mode of a new file can be set only while no other process has it open.
    await retryWhileBusy(() => prepare(writer, file, log));
    requireWritable(writer);
    if (file !== IN_MEMORY) handles = { writer, reader: new Driver(file, { timeout: 0, readOnly: true }) };
    await bringUpToDate(kyselyOn(fixed(file, handles)), writer, options);
    return handles;
  } catch (error) {
    closeHandles(handles);
    throw error;
  }
}

/** SQLite opens a file without write permission read-only, and reports no error. */
function requireWritable(handle: DatabaseSync): void {
  try {
    handle.exec("begin immediate; rollback");
  } catch (error) {
    // Another process writes at the moment.
    if (!isBusy(error)) throw error;
  }
}

/** Undefined if the contents cannot be read, or only after an update of their schema. */
async function openReadOnly(file: string): Promise<ReadOnlyFile | undefined> {
  let opened: { handle: DatabaseSync; isCurrent: () => boolean } | undefined;
  try {
    opened = await openReader(file, 0);
    const handles = { writer: opened.handle, reader: opened.handle };
    const state = await schemaState(kyselyOn(fixed(file, handles)));
    if (state === "current" || state === "newer") return { handles, isCurrent: opened.isCurrent };
  } catch {
    // The caller knows why the file cannot be used.
  }
  opened?.handle.close();
  return undefined;
}

/**
 * SQLite reads a database with a log through an index in a file, which it cannot create on a full or read-only disk.
 * Without a log the database can be read as one that does not change, until it does.
 */
async function openReader(file: string, timeout: number): Promise<{ handle: DatabaseSync; isCurrent: () => boolean }> {
  const { DatabaseSync: Driver } = await importDriver();
  const statOf = (path: string) => statSync(path, { throwIfNoEntry: false, bigint: true });
  const before = statOf(file);
  const isUntouched = (): boolean => {
    const now = statOf(file);
    return (statOf(`${file}-wal`)?.size ?? 0n) === 0n && now?.size === before?.size && now?.mtimeNs === before?.mtimeNs;
  };
  const handle = new Driver(file, { timeout, readOnly: true });
  try {
    handle.prepare("select count(*) from sqlite_master").get();
    return { handle, isCurrent: () => true };
  } catch (error) {
    handle.close();
    if (!isUntouched()) throw error;
  }
  const url = pathToFileURL(file);
  url.searchParams.set("immutable", "1");
  return { handle: new Driver(url, { readOnly: true }), isCurrent: isUntouched };
}

/** Opens the file read-only, without migrating the schema, and checks its integrity. */
export function readOnly<T>(file: string, read: (db: Database, integrity: string) => Promise<T>): Promise<T> {
  return peek(file, (db, handle) =>
    read(db, String(handle.prepare("pragma integrity_check").get()?.["integrity_check"])),
  );
}

/** Like `readOnly`, without the integrity check, which reads the whole file. */
export async function peek<T>(file: string, read: (db: Database, handle: DatabaseSync) => Promise<T>): Promise<T> {
  const { handle } = await openReader(file, READ_TIMEOUT_MS);
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
  if (file !== IN_MEMORY) restrictAccess(file);
  handle.exec("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;");
  handle.exec("pragma journal_size_limit = 16777216;");
  // Overwrites deleted content, which would otherwise stay in the file.
  handle.exec("pragma secure_delete = on;");
  if (process.platform === "darwin") {
    handle.exec("pragma fullfsync = on; pragma checkpoint_fullfsync = on;");
  }
  // Now the files exist.
  if (file !== IN_MEMORY) restrictAccess(file);
}

/**
 * Takes access away from others. A file that its owner made read-only stays so; those of its log, which SQLite created
 * with the same mode, become writable together with it.
 */
function restrictAccess(file: string): void {
  const mode = (statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o600;
  for (const suffix of ["", "-wal", "-shm"]) chmodIfPresent(file + suffix, mode);
}

function isOlder(version: string, than: number[]): boolean {
  const parts = version.split(".").map(Number);
  for (const [index, wanted] of than.entries()) {
    const part = parts[index] ?? 0;
    if (part !== wanted) return part < wanted;
  }
  return false;
}

function chmodIfPresent(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch {
    // The WAL files exist only while a process writes.
  }
}

async function bringUpToDate(
  db: Database,
  handle: DatabaseSync,
  { file, migrations = MIGRATIONS }: WritableFile,
): Promise<void> {
  const state = await schemaState(db, migrations);
  if (state === "newer") throw newerSchema(`The database ${file}`);
  if (state === "foreign") throw foreignSchema(`The database ${file}`, "Move it away: a new one is created.");
  if (state === "older") {
    const copy = backupOf(file, Date.now());
    handle.prepare("vacuum into ?").run(copy);
    chmodIfPresent(copy, 0o600);
  }
  if (state !== "current") await migrate(db, migrations);
}
