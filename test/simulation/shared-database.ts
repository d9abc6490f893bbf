/** A real SQLite database in memory, shared by all simulated processes: locked like a file, and released by a kill. */

import { DatabaseSync, type StatementSync } from "node:sqlite";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { AppError } from "../../src/errors.ts";
import type { Database } from "../../src/store/database.ts";
import { migrate } from "../../src/store/migrate.ts";

/** The state of a simulated process as the database sees it. */
export interface Client {
  /** Awaited before every request: waits while the process is suspended, and never resolves once it is killed. */
  pass(): Promise<void>;
  killed(): boolean;
  /** True if the disk has no space for a write. */
  refuses(): boolean;
}

export interface SharedDatabase {
  open(client: Client): Database;
  /** Releases what a killed process held: rolls back an open transaction and frees the lock. */
  drop(client: Client): void;
  all<Row>(sql: string, ...values: (string | number)[]): Row[];
  /** Deletes all rows before the next history. */
  clear(): void;
}

export async function openSharedDatabase(losing?: RegExp): Promise<SharedDatabase> {
  const handle = new DatabaseSync(":memory:");
  handle.exec("pragma foreign_keys = off");
  const lock = createLock(handle);
  const statements = createStatements(handle);
  const open = (client: Client): Database =>
    new Kysely({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => createDriver({ handle, statements, lock, losing }, client),
        createIntrospector: (db) => new SqliteIntrospector(db),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    });
  await migrate(open({ pass: async () => {}, killed: () => false, refuses: () => false }));
  recordTransitions(handle);
  const tables = handle
    .prepare(
      "select name from sqlite_master where type = 'table' and name not like 'kysely%' and sql not like '%shadow%'",
    )
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !name.startsWith("research_search_") && !name.startsWith("sqlite_"));
  return {
    open,
    drop: lock.drop,
    all: <Row>(sql: string, ...values: (string | number)[]) => handle.prepare(sql).all(...values) as Row[],
    clear: () => {
      lock.reset();
      for (const table of tables) handle.exec(`delete from "${table}"`);
    },
  };
}

/** Records every change of status, which the judge compares with the table of legal transitions. */
function recordTransitions(handle: DatabaseSync): void {
  handle.exec("create table transitions (task_id text, before text, after text)");
  handle.exec(`create trigger record_transitions after update of status on research_tasks
    when old.status is not new.status
    begin insert into transitions values (new.task_id, old.status, new.status); end`);
}

interface Lock {
  take(client: Client): Promise<void>;
  give(client: Client): void;
  drop(client: Client): void;
  reset(): void;
}

function createLock(handle: DatabaseSync): Lock {
  let holder: Client | undefined;
  let waiting: { client: Client; go: () => void }[] = [];
  const next = (): void => {
    holder = undefined;
    const first = waiting.find(({ client }) => !client.killed());
    waiting = waiting.filter((entry) => entry !== first && !entry.client.killed());
    if (first === undefined) return;
    holder = first.client;
    first.go();
  };
  const rollBack = (): void => {
    if (handle.isTransaction) handle.exec("rollback");
  };
  return {
    take: (client) =>
      new Promise((resolve) => {
        if (holder === undefined) {
          holder = client;
          resolve();
        } else {
          waiting.push({ client, go: resolve });
        }
      }),
    give: (client) => {
      if (holder === client) next();
    },
    drop: (client) => {
      if (holder !== client) return;
      rollBack();
      next();
    },
    reset: () => {
      rollBack();
      holder = undefined;
      waiting = [];
    },
  };
}

/** Caches prepared statements, because preparing costs more than running. */
function createStatements(handle: DatabaseSync): (sql: string) => { statement: StatementSync; reads: boolean } {
  const known = new Map<string, { statement: StatementSync; reads: boolean }>();
  return (sql) => {
    let found = known.get(sql);
    if (found === undefined) {
      const statement = handle.prepare(sql);
      found = { statement, reads: statement.columns().length > 0 };
      known.set(sql, found);
    }
    return found;
  };
}

/** A new promise each time, because waiters on a shared one would never be garbage collected. */
const never = (): Promise<never> => new Promise(() => {});

interface Shared {
  handle: DatabaseSync;
  statements: ReturnType<typeof createStatements>;
  lock: Lock;
  losing: RegExp | undefined;
}

function createDriver({ handle, statements, lock, losing }: Shared, client: Client): Driver {
  const run = (sql: string): void => {
    if (!client.killed()) handle.exec(sql);
  };
  const connection: DatabaseConnection = {
    executeQuery: async <Row>(query: CompiledQuery): Promise<QueryResult<Row>> => {
      if (client.killed()) return never();
      const { statement, reads } = statements(query.sql);
      const writes = !query.sql.startsWith("select");
      if (writes && client.refuses()) {
        throw new AppError({ code: "DISK_FULL", message: "The database cannot grow because the disk is full." });
      }
      if (losing?.test(query.sql) === true) return { rows: [], numAffectedRows: 0n };
      const values = query.parameters.map((value) => (typeof value === "boolean" ? Number(value) : (value ?? null)));
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the store binds is what SQLite takes
      const bound = values as (string | number | null)[];
      if (reads) return { rows: statement.all(...bound) as Row[] };
      const { changes } = statement.run(...bound);
      return { rows: [], numAffectedRows: BigInt(changes) };
    },
    async *streamQuery() {},
  };
  return {
    init: async () => {},
    acquireConnection: async () => {
      await client.pass();
      await lock.take(client);
      return connection;
    },
    releaseConnection: async () => lock.give(client),
    beginTransaction: async () => run("begin immediate"),
    commitTransaction: async () => (client.killed() ? never() : run("commit")),
    rollbackTransaction: async () => run("rollback"),
    destroy: async () => {},
  };
}
