/**
 * Kysely driver for node:sqlite: one handle for reads, one for serialised writes. It waits for locks with asynchronous
 * sleeps, because the driver's busy timeout would block the event loop, and reports errors with a suggestion.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { accessSync, constants, statfsSync } from "node:fs";
import { dirname } from "node:path";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { Database } from "../database.ts";
import { AppError } from "../../errors.ts";
import { errorCodeOf } from "../../platform/error-code.ts";

/** Two connections to one file, or the same connection twice for an in-memory database. */
export interface Handles {
  writer: DatabaseSync;
  reader: DatabaseSync;
}

/** Provides the handles for each read and each transaction. */
export interface HandleSource {
  file: string;
  /** Called with the writer lock held. */
  forWriting(): Handles | Promise<Handles>;
  /** Undefined when reading requires the writer lock: see `reopenForReading`. */
  forReading(): Handles | undefined;
  /** Called with the writer lock held, after `forReading` returned nothing. */
  reopenForReading(): Handles | Promise<Handles>;
  close(): void;
}

/** A source whose handles never change. */
export const fixed = (file: string, handles: Handles): HandleSource => ({
  file,
  forReading: () => (handles.reader === handles.writer ? undefined : handles),
  reopenForReading: () => handles,
  forWriting: () => handles,
  close: () => closeHandles(handles),
});

export function closeHandles({ writer, reader }: Handles): void {
  for (const handle of [reader, writer]) if (handle.isOpen) handle.close();
}

export const kyselyOn = (source: HandleSource): Database => new Kysely({ dialect: dialectOn(source) });

function dialectOn(source: HandleSource): Dialect {
  const lock = createWriterLock();
  return {
    createAdapter: () => new FileAdapter(),
    createDriver: () => createDriver(source, lock),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class FileAdapter extends SqliteAdapter {
  /** Read by `isShared`. */
  readonly isLocalFile = true;

  /** The driver has its own writer lock, so that reads do not wait for writes. */
  override get supportsMultipleConnections(): boolean {
    return true;
  }
  /** SQLite can roll back DDL, and `begin immediate` serialises migrating processes. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function createDriver(source: HandleSource, lock: WriterLock): Driver {
  const own = (connection: DatabaseConnection): FileConnection => {
    if (connection instanceof FileConnection) return connection;
    throw new TypeError("This connection belongs to another driver.");
  };
  return {
    init: async () => {},
    acquireConnection: async () => new FileConnection(source, lock),
    releaseConnection: async (connection) => own(connection).release(),
    beginTransaction: (connection) => own(connection).begin(),
    commitTransaction: async (connection) => own(connection).control("commit"),
    rollbackTransaction: async (connection) => own(connection).control("rollback"),
    destroy: async () => source.close(),
  };
}

class FileConnection implements DatabaseConnection {
  readonly #source: HandleSource;
  readonly #lock: WriterLock;
  #transaction: { handle: DatabaseSync; release: () => void } | undefined;

  constructor(source: HandleSource, lock: WriterLock) {
    this.#source = source;
    this.#lock = lock;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const execute = (handle: DatabaseSync): QueryResult<Row> => run(handle, query);
    return this.#guarded(() => {
      if (this.#transaction !== undefined) return execute(this.#transaction.handle);
      return isRead(query) ? this.#read(execute) : this.#write(execute);
    });
  }

  // oxlint-disable-next-line require-yield -- Kysely's interface; nothing here reads row by row
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new TypeError("Rows are read all at once.");
  }

  /** Immediate: a deferred transaction that has read cannot wait for the write lock and fails at once. */
  async begin(): Promise<void> {
    await this.#guarded(async () => {
      const deadline = busyDeadline();
      const release = await this.#lock.acquire();
      try {
        const { writer } = await this.#source.forWriting();
        await retryWhileBusy(() => writer.exec("begin immediate"), deadline);
        this.#transaction = { handle: writer, release };
      } catch (error) {
        release();
        throw error;
      }
    });
  }

  async control(command: "commit" | "rollback"): Promise<void> {
    const handle = this.#transaction?.handle;
    // SQLite rolls back automatically when the disk is full; a second rollback would hide the cause.
    if (handle === undefined || (command === "rollback" && !handle.isTransaction)) return;
    await this.#guarded(() => handle.prepare(command).run());
  }

  release(): void {
    const transaction = this.#transaction;
    if (transaction === undefined) return;
    this.#transaction = undefined;
    try {
      // A failed commit leaves the transaction open, and the next one could not begin.
      if (transaction.handle.isTransaction) transaction.handle.exec("rollback");
    } finally {
      transaction.release();
    }
  }

  async #read<T>(execute: (handle: DatabaseSync) => T): Promise<T> {
    const handles = this.#source.forReading();
    if (handles !== undefined) return retryWhileBusy(() => execute(handles.reader));
    const release = await this.#lock.acquire();
    try {
      const { reader } = await this.#source.reopenForReading();
      return await retryWhileBusy(() => execute(reader));
    } finally {
      release();
    }
  }

  /** A single statement is its own transaction: it can be retried when the database is busy. */
  async #write<T>(execute: (handle: DatabaseSync) => T): Promise<T> {
    const deadline = busyDeadline();
    const release = await this.#lock.acquire();
    try {
      const { writer } = await this.#source.forWriting();
      return await retryWhileBusy(() => execute(writer), deadline);
    } finally {
      release();
    }
  }

  async #guarded<T>(action: () => T | Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      throw storageError(error, this.#source.file);
    }
  }
}

const isRead = ({ query, sql }: CompiledQuery): boolean => SelectQueryNode.is(query) || /^\s*select\s/i.test(sql);

function run<Row>(handle: DatabaseSync, query: CompiledQuery): QueryResult<Row> {
  const values = query.parameters.map(bindable);
  const { statement, returnsRows } = prepare(handle, query.sql, values);
  if (returnsRows) {
    const rows = statement.all(...values);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Kysely knows the type of a row, the driver does not
    return { rows: rows as Row[] };
  }
  const { changes, lastInsertRowid } = statement.run(...values);
  return { rows: [], insertId: BigInt(lastInsertRowid), numAffectedRows: BigInt(changes) };
}

interface Prepared {
  statement: StatementSync;
  returnsRows: boolean;
}

/** By handle and text, the least recently used first. Closing a handle frees its statements. */
const prepared = new WeakMap<DatabaseSync, Map<string, Prepared>>();
/** More than the product has; those with lists of values have a text for each length. A statement takes some kilobytes. */
const MAX_STATEMENTS = 200;
/** Until its next use a statement keeps its values. */
const MAX_KEPT_CHARACTERS = 10_000;

/** Compiling a statement and describing its columns takes longer than to run most of ours. */
function prepare(handle: DatabaseSync, sql: string, values: readonly Bindable[]): Prepared {
  const statements = prepared.get(handle) ?? new Map<string, Prepared>();
  const found = statements.get(sql) ?? compile(handle, sql);
  statements.delete(sql);
  if (values.some((value) => sizeOf(value) > MAX_KEPT_CHARACTERS)) return found;
  statements.set(sql, found);
  const [oldest] = statements.size > MAX_STATEMENTS ? statements.keys() : [];
  if (oldest !== undefined) statements.delete(oldest);
  prepared.set(handle, statements);
  return found;
}

function compile(handle: DatabaseSync, sql: string): Prepared {
  const statement = handle.prepare(sql);
  return { statement, returnsRows: statement.columns().length > 0 };
}

const sizeOf = (value: Bindable): number =>
  typeof value === "string" || value instanceof Uint8Array ? value.length : 0;

type Bindable = null | number | bigint | string | Uint8Array;

function bindable(value: unknown): Bindable {
  if (value === undefined || value === null) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "string") return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`A ${typeof value} cannot be stored.`);
}

/** Long enough for a backup or a migration, and short enough for a start to respond within 30 s. */
const MAX_WAIT_MS = 15_000;
const FIRST_SLEEP_MS = 1;
const MAX_SLEEP_MS = 40;

/** By the monotonic clock: the wall clock may be set back while a statement waits. */
const busyDeadline = (): number => performance.now() + MAX_WAIT_MS;

/** Repeats `action` while another connection holds the lock. It must have no effect when it fails. */
export async function retryWhileBusy<T>(action: () => T | Promise<T>, deadline = busyDeadline()): Promise<T> {
  for (let wait = FIRST_SLEEP_MS; ; wait = Math.min(wait * 2, MAX_SLEEP_MS)) {
    try {
      return await action();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      // Jitter, so that waiting processes do not retry at the same time.
      await sleep(wait * (0.5 + Math.random()));
    }
  }
}

interface WriterLock {
  /** Resolves with the function that releases the lock. Granted in order of request. */
  acquire(): Promise<() => void>;
}

/** Allows one writer at a time within this process. */
function createWriterLock(): WriterLock {
  let last: Promise<void> = Promise.resolve();
  return {
    acquire: async () => {
      const before = last;
      const { promise, resolve } = Promise.withResolvers<void>();
      last = promise;
      await before;
      return resolve;
    },
  };
}

const SQLITE_PERM = 3;
const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;

/** Another connection holds the lock that this statement needs. */
export const isBusy = (error: unknown): boolean => resultCode(error) === SQLITE_BUSY;

export function storageError(error: unknown, file?: string): unknown {
  const code = resultCode(error);
  if (code === undefined) return error;
  // Without room for the index of the log, SQLite reports an input/output error.
  const mayBeFull = [SQLITE_IOERR, SQLITE_CANTOPEN].includes(code) && file !== undefined && isFull(file);
  if (code === SQLITE_FULL || mayBeFull) return diskFull(error, file);
  if ([SQLITE_PERM, SQLITE_READONLY, SQLITE_CANTOPEN].includes(code)) return notWritable(error, file);
  const isLocked = code === SQLITE_BUSY;
  return new AppError({
    code: "SQLITE_ERROR",
    message: isLocked ? "Another program has kept the database locked for too long." : "A database request failed.",
    suggestion: isLocked
      ? "Try again in a moment. If it stays locked, end the program that has the file open for writing."
      : `Check ${file ?? "the database"} with \`gemini-search-mcp doctor\`, or set GEMINI_SEARCH_CONFIG_DIR.`,
    cause: error,
  });
}

function notWritable(cause: unknown, file: string | undefined): AppError {
  const denial = file === undefined ? undefined : denialOf(file);
  return new AppError({
    code: "SQLITE_ERROR",
    message: `The database ${denial === undefined ? "cannot be written" : `${file} cannot be written: ${denial.why}`}.`,
    suggestion: denial?.advice ?? "Check the config directory and its permissions, or set GEMINI_SEARCH_CONFIG_DIR.",
    cause,
  });
}

/** Asks the system, because SQLite does not tell why it cannot write. */
export function denialOf(file: string): { why: string; advice: string } | undefined {
  for (const path of [file, dirname(file)]) {
    try {
      accessSync(path, constants.W_OK);
    } catch (error) {
      const code = errorCodeOf(error);
      const elsewhere = "or set GEMINI_SEARCH_CONFIG_DIR";
      if (code === "EROFS") {
        return { why: "its file system is mounted read-only", advice: `Mount it writable, ${elsewhere}.` };
      }
      if (code === "EACCES" || code === "EPERM") {
        const why = `this user has no write permission for ${path}`;
        return { why, advice: `Give this user write permission for ${path}, ${elsewhere}.` };
      }
    }
  }
  return undefined;
}

function diskFull(error: unknown, file: string | undefined): AppError {
  const available = file === undefined ? undefined : availableBytes(file);
  const space = available === undefined ? "" : ` ${available.toLocaleString("en-US")} bytes are available.`;
  return new AppError({
    code: "DISK_FULL",
    message: `The database${file === undefined ? "" : ` ${file}`} cannot grow because the disk is full.${space}`,
    suggestion: "Free some space on the disk with the config directory.",
    details: {
      ...(file === undefined ? {} : { path: file }),
      ...(available === undefined ? {} : { available_bytes: available }),
    },
    cause: error,
  });
}

/** Less than SQLite needs to begin a log. */
const isFull = (file: string): boolean => (availableBytes(file) ?? Infinity) < 100_000;

function availableBytes(file: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/** The primary result code, which is the low byte of an extended one. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined;
  return error.errcode & 0xff;
}
