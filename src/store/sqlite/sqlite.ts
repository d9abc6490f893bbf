/**
 * Opens SQLite databases with node:sqlite: pragmas, permissions, backup and schema migration. The database of an
 * installation stays readable while its file cannot be written, and is written again as soon as that is possible; once its
 * files are removed or replaced, nothing more is written to them. The text of deleted runs remains neither in the
 * write-ahead log nor, for longer than 30 days, in backups.
 */

import { chmodSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { sql } from "kysely";
import type { Log } from "../../platform/log.ts";
import type { Database, OpenDatabase } from "../database.ts";
import { foreignSchema, migrate, MIGRATIONS, newerSchema, schemaState } from "../migrate.ts";
import {
  closeHandles,
  fixed,
  type Handles,
  type HandleSource,
  isBusy,
  kyselyOn,
  retryWhileBusy,
  storageError,
} from "./driver.ts";
import { AppError } from "../../errors.ts";
import { isShared } from "../dialect.ts";

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
  const source = await openWithFallback({ file, log, onWritable });
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

async function openAndPrepare({ file, log, onWritable }: InstalledFile): Promise<HandleSource> {
  const source = await openWritable({ file, log });
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

interface ReadOnlyFile {
  handles: Handles;
  /** False when the handles may no longer show what is in the file. */
  isCurrent(): boolean;
}

interface InstalledFile {
  file: string;
  log: Log;
  onWritable: (db: Database) => Promise<void>;
}

interface FallbackSource extends HandleSource {
  /** Why the file cannot be written; undefined if it can. */
  obstacle(): AppError | undefined;
}

type State =
  | { kind: "writable"; source: HandleSource }
  | { kind: "memory"; handles: Handles; cause: AppError; retryAt: number }
  | { kind: "file"; readable: ReadOnlyFile | undefined; cause: AppError; retryAt: number };

/** Opening a file takes milliseconds; what prevents it usually lasts for minutes. */
const RETRY_MS = 1_000;

async function openWithFallback(options: InstalledFile): Promise<FallbackSource> {
  let state = await open(options, undefined);

  const isDue = (): boolean => state.kind !== "writable" && performance.now() >= state.retryAt && !holdsRuns(state);
  const isStale = (): boolean => state.kind === "file" && state.readable?.isCurrent() === false;
  const openAgain = async (): Promise<State> => {
    state = await open(options, state);
    return state;
  };

  return {
    file: options.file,
    forReading: () => {
      if (state.kind === "writable") return state.source.forReading();
      return state.kind === "file" && !isStale() ? state.readable?.handles : undefined;
    },
    reopenForReading: async () => {
      const now = isStale() || isDue() ? await openAgain() : state;
      if (now.kind === "writable") return now.source.reopenForReading();
      const handles = now.kind === "memory" ? now.handles : now.readable?.handles;
      if (handles === undefined) throw now.cause;
      return handles;
    },
    forWriting: async () => {
      const now = isDue() ? await openAgain() : state;
      if (now.kind === "writable") return now.source.forWriting();
      if (now.kind === "memory") return now.handles;
      throw now.cause;
    },
    close: () => close(state),
    obstacle: () => {
      if (state.kind === "writable") return undefined;
      return holdsRuns(state) ? keptInMemory(options.file, state.cause) : state.cause;
    },
  };
}

/** Searches in memory would be lost with it: one may be under way, and the result of another may not have been read. */
const holdsRuns = (state: State): boolean =>
  state.kind === "memory" && state.handles.reader.prepare("select 1 from research_tasks limit 1").get() !== undefined;

const keptInMemory = (file: string, cause: AppError): AppError =>
  new AppError({
    code: cause.code,
    message: `The database ${file} could not be written when this process started, so its searches are in memory.`,
    suggestion: `${cause.suggestion ?? ""} Then restart gemini-search-mcp.`.trim(),
    cause,
  });

async function open(options: InstalledFile, before: State | undefined): Promise<State> {
  const { file, log } = options;
  // The handles of a process share the index of the log: one that is read-only would make the next one read-only, too.
  if (before?.kind === "file") close(before);
  try {
    const source = await openAndPrepare(options);
    if (before !== undefined) log.warn(`The database ${file} can be written again.`);
    if (before?.kind === "memory") close(before);
    return { kind: "writable", source };
  } catch (error) {
    const state = await fallback(options, before, causeOf(error, file));
    // Not by the message: that of a full disk has the number of free bytes.
    const isNews = before === undefined || before.kind === "writable" || before.cause.code !== state.cause.code;
    if (isNews) log.warn(`${state.cause.message} ${consequenceOf(state)} ${state.cause.suggestion ?? ""}`.trim());
    return state;
  }
}

async function fallback(options: InstalledFile, before: State | undefined, cause: AppError) {
  const retryAt = performance.now() + RETRY_MS;
  if (before?.kind === "memory") return { ...before, cause, retryAt };
  if (isEmpty(options.file)) {
    const memory = await openAndPrepare({ ...options, file: IN_MEMORY });
    return { kind: "memory" as const, handles: await memory.forWriting(), cause, retryAt };
  }
  return { kind: "file" as const, readable: await openReadOnly(options.file), cause, retryAt };
}

/** There is no file, or SQLite could not write anything into the one that it created. */
function isEmpty(file: string): boolean {
  try {
    return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
  } catch {
    return false;
  }
}

function consequenceOf(state: Exclude<State, { kind: "writable" }>): string {
  if (state.kind === "memory") return "Searches work, but nothing is kept after this process ends.";
  const reading = state.readable === undefined ? "cannot be read" : "can be read";
  return `Stored runs ${reading}; searches work, but are not stored.`;
}

function causeOf(error: unknown, file: string): AppError {
  const known = storageError(error, file);
  if (known instanceof AppError) return known;
  return new AppError({ code: "SQLITE_ERROR", message: `The database ${file} cannot be opened.`, cause: error });
}

function close(state: State): void {
  if (state.kind === "writable") state.source.close();
  else if (state.kind === "memory") closeHandles(state.handles);
  else if (state.readable !== undefined) closeHandles(state.readable.handles);
}

/** What is written to the handles after the file was removed or replaced would be lost when the process exits. */
function openedFile(file: string, handles: Handles, log: Log): HandleSource {
  const opened = inodesOf(file);
  let isLogged = false;
  const isReplaced = (): boolean => inodesOf(file).some((inode, n) => opened[n] !== undefined && inode !== opened[n]);
  const forWriting = (): Handles => {
    if (!isReplaced()) return handles;
    const error = replaced(file);
    if (!isLogged) log.error(`${error.message} ${error.suggestion ?? ""}`);
    isLogged = true;
    throw error;
  };
  return {
    file,
    forReading: () => handles,
    reopenForReading: () => handles,
    forWriting,
    // SQLite copies the log into the file when the last connection closes, unless that one is read-only: pages of a
    // removed log would damage a backup that was copied over the file.
    close: () => {
      if (isReplaced()) handles.writer.close();
      closeHandles(handles);
    },
  };
}

/** Of the file, its write-ahead log and the index of the log. */
const inodesOf = (file: string): (string | undefined)[] =>
  ["", "-wal", "-shm"].map((suffix) => {
    const stats = statSync(file + suffix, { throwIfNoEntry: false, bigint: true });
    return stats && `${stats.dev}:${stats.ino}`;
  });

const replaced = (file: string): AppError =>
  new AppError({
    code: "SQLITE_ERROR",
    message: `The database ${file} was removed or replaced while it was open. Nothing is written to it.`,
    suggestion: "Restart: the file that is there by then is used, or a new one.",
  });

const MAX_AGE_MS = 30 * 86_400_000;

/** The path of a new backup. */
const backupOf = (file: string, now: number): string => `${file}.before-update-${now}`;

/** Backups still contain runs that were deleted later. The time of a backup is part of its name. */
export async function removeOldBackups(file: string, now: number): Promise<void> {
  const folder = dirname(file);
  const names = await readdir(folder).catch(() => []);
  const old = names.filter((name) => {
    const suffix = name.startsWith(basename(file)) ? name.slice(basename(file).length) : "";
    const [, made] = /^\.before-update-(\d{1,16})$/.exec(suffix) ?? [];
    return made !== undefined && Number(made) < now - MAX_AGE_MS;
  });
  for (const name of old) await rm(join(folder, name), { force: true });
}

/**
 * SQLite only: moves everything into the database file and empties the write-ahead log, which contains deleted text
 * until it is overwritten. False while another process reads or writes.
 */
export async function truncateLog(db: Database): Promise<boolean> {
  if (isShared(db)) return true;
  try {
    const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(db);
    return rows[0]?.busy === 0;
  } catch {
    // The log keeps everything for a later checkpoint.
    return false;
  }
}
