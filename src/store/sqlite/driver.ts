/** Kysely driver for node:sqlite: one handle for reads, one for serialised writes, and no blocking waits. */

import type { DatabaseSync } from "node:sqlite";
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
import { busyDeadline, createWriterLock, retryWhileBusy, type WriterLock } from "./busy.ts";
import { storageError } from "./errors.ts";

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
  const statement = handle.prepare(query.sql);
  const values = query.parameters.map(bindable);
  if (statement.columns().length > 0) {
    const rows = statement.all(...values);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Kysely knows the type of a row, the driver does not
    return { rows: rows as Row[] };
  }
  const { changes, lastInsertRowid } = statement.run(...values);
  return { rows: [], insertId: BigInt(lastInsertRowid), numAffectedRows: BigInt(changes) };
}

type Bindable = null | number | bigint | string | Uint8Array;

function bindable(value: unknown): Bindable {
  if (value === undefined || value === null) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "string") return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`A ${typeof value} cannot be stored.`);
}
