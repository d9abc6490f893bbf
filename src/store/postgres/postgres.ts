/** Opens the PostgreSQL database: connection pool, server checks, schema migration, transaction retries. */

import { Kysely, PostgresDialect, sql, type TransactionBuilder } from "kysely";
import type { ClientConfig, Pool, PoolConfig } from "pg";
import { AppError } from "../../errors.ts";
import type { Log } from "../../platform/log.ts";
import type { Database, OpenDatabase, Tables } from "../database.ts";
import { foreignSchema, migrate, MIGRATIONS, newerSchema, schemaState } from "../migrate.ts";
import { createDriverPool, isConflict } from "./driver.ts";
import { createRunNotifications, type RunNotifications } from "./run-notifications.ts";

export interface PostgresOptions {
  url: string;
  connections?: number | undefined;
  log: Pick<Log, "debug" | "warn">;
  migrations?: typeof MIGRATIONS | undefined;
}

/** The application_name of our connections. */
const APPLICATION = "gemini-search-mcp";
/** The oldest version that is tested. */
const MIN_VERSION = 150_000;
/** Leases last a minute and are renewed every 15 s, so a clock error of this size is harmless. */
const CLOCK_TOLERANCE_MS = 5_000;
/** Per process, in addition to 4 of the job queue and 1 that listens for changes. */
const MAX_CONNECTIONS = 8;
/** No query takes longer, except when the network drops responses. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** Client-side limit, for a server that no longer responds. Its own limit applies first. */
const RESPONSE_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000;
/** Idle time before TCP keep-alive probes start. */
const KEEP_ALIVE_AFTER_MS = 10_000;

export async function openPostgres(options: PostgresOptions): Promise<OpenDatabase> {
  const { url, connections = MAX_CONNECTIONS, log } = options;
  checkUrl(url);
  const connect = await connector(url, log);
  const state = await withSetupConnection(connect, (db) => bringUpToDate(db, options));
  const writable = state !== "newer";
  const session = [
    `set statement_timeout = ${STATEMENT_TIMEOUT_MS}`,
    `set idle_in_transaction_session_timeout = ${STATEMENT_TIMEOUT_MS}`,
    ...(writable ? [] : ["set default_transaction_read_only = on"]),
  ];
  const db = connect({ max: connections, query_timeout: RESPONSE_TIMEOUT_MS }, session);
  const notifications = await openNotifications(url, db, log);
  const close = async (): Promise<void> => {
    await notifications.close();
    await db.destroy();
  };
  const obstacle = writable ? undefined : newerSchema("The PostgreSQL database");
  return { db, obstacle: async () => obstacle, notifications, close };
}

async function openNotifications(url: string, db: Database, log: PostgresOptions["log"]): Promise<RunNotifications> {
  const { Client } = await importDriver();
  return createRunNotifications({
    createClient: () => new Client(connectionConfig(url)),
    send: (channel, payload) => sql`select pg_notify(${channel}, ${payload})`.execute(db),
    log,
  });
}

/** Runs queries without migrating the schema. */
export async function readOnlyPostgres<T>(
  { url, log }: Pick<PostgresOptions, "url" | "log">,
  read: (db: Database) => Promise<T>,
): Promise<T> {
  checkUrl(url);
  return withSetupConnection(await connector(url, log), async (db) => {
    await checkServer(db, log);
    return read(db);
  });
}

type Connect = (config: PoolConfig, session: string[]) => Database;

async function connector(url: string, log: PostgresOptions["log"]): Promise<Connect> {
  const { Pool: DriverPool, types } = await importDriver();
  return (config, session) => {
    const pool: Pool = new DriverPool({
      ...connectionConfig(url),
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
      types: { getTypeParser: (oid, format) => (NUMBERS.has(oid) ? Number : types.getTypeParser(oid, format)) },
      ...config,
    });
    // Without a listener a broken idle connection would end the process; the next query opens a new one.
    pool.on("error", () => log.debug("A connection to the database was lost."));
    return new RetryingKysely({ dialect: new PostgresDialect({ pool: createDriverPool(pool, session) }) });
  };
}

export const connectionConfig = (url: string) =>
  ({
    connectionString: url,
    application_name: APPLICATION,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  }) satisfies ClientConfig;

/** int8 and numeric, which the driver returns as text. Ours are times, counts and sums far below 2^53. */
const NUMBERS = new Set([20, 1_700]);

/** An optional dependency: installations that use SQLite do not need it. */
async function importDriver(): Promise<typeof import("pg")> {
  try {
    return await import("pg");
  } catch (error) {
    throw new AppError({
      code: "SQLITE_ERROR",
      message: "GEMINI_SEARCH_DATABASE_URL is set, but the driver for PostgreSQL is not installed.",
      suggestion: `Run this in ${installDirectory()}: npm install pg pg-boss@12.35.0`,
      cause: error,
    });
  }
}

/** The directory in which npm must install a package for this program to find it. */
function installDirectory(): string {
  const here = import.meta.dirname.replaceAll("\\", "/");
  const [above] = here.split(/\/node_modules\/gemini-search-mcp(?:\/|$)/);
  return above === here || above === undefined ? here.replace(/\/(?:dist|src)(?:\/.*)?$/, "") : above;
}

function checkUrl(url: string): void {
  if (/^postgres(?:ql)?:\/\/./.test(url) && URL.canParse(url)) return;
  throw new AppError({
    code: "SQLITE_ERROR",
    message: "GEMINI_SEARCH_DATABASE_URL is not the address of a PostgreSQL database.",
    suggestion: "It looks like postgres://user:password@host:5432/database, with special characters as %XX.",
  });
}

/** Uses connections without a timeout: waiting for a migration or building an index may take long. */
async function withSetupConnection<T>(connect: Connect, work: (db: Database) => Promise<T>): Promise<T> {
  const db = connect({ max: 2, application_name: `${APPLICATION} setup` }, []);
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

async function bringUpToDate(db: Database, { log, migrations = MIGRATIONS }: PostgresOptions) {
  await checkServer(db, log);
  const state = await schemaState(db, migrations);
  if (state === "foreign") {
    throw foreignSchema("The PostgreSQL database", "Set GEMINI_SEARCH_DATABASE_URL to an empty database.");
  }
  if (state === "newer") {
    log.warn(
      "The PostgreSQL database was written by a newer gemini-search-mcp. It is opened read-only; update this installation to store new runs.",
    );
  }
  // No backup is made first, unlike for SQLite: that is up to the operator (pg_dump).
  if (state === "older" || state === "empty") await migrateLocked(db, migrations);
  return state;
}

/**
 * Holds an advisory lock: Kysely reads the columns of all tables before it takes its own lock, and that query fails
 * while another process drops one.
 */
const migrateLocked = (db: Database, migrations: typeof MIGRATIONS): Promise<void> =>
  db.connection().execute(async (connection) => {
    const lock = sql`hashtextextended(${`${APPLICATION}:migrate`}, 0)`;
    await sql`select pg_advisory_lock(${lock})`.execute(connection);
    try {
      const state = await schemaState(connection, migrations);
      if (state === "older" || state === "empty") await migrate(connection, migrations);
    } finally {
      await sql`select pg_advisory_unlock(${lock})`.execute(connection);
    }
  });

async function checkServer(db: Database, log: PostgresOptions["log"]): Promise<void> {
  const asked = Date.now();
  const { rows } = await sql<{ version: number; encoding: string; now: number }>`
    select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
      (extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(db);
  const answered = Date.now();
  const [server] = rows;
  if (server === undefined || server.version < MIN_VERSION || server.encoding !== "UTF8") {
    throw new AppError({
      code: "SQLITE_ERROR",
      message: "The PostgreSQL server is older than version 15, or its database is not in UTF8.",
      suggestion: "Set GEMINI_SEARCH_DATABASE_URL to a dedicated database: create database research encoding 'UTF8'.",
    });
  }
  const ahead = Math.round((asked + answered) / 2 - server.now);
  if (Math.abs(ahead) > CLOCK_TOLERANCE_MS) {
    log.warn(
      `This machine's clock is ${Math.abs(ahead)} ms ${ahead > 0 ? "ahead of" : "behind"} the database's. Machines that share a database need the same time: set up NTP.`,
    );
  }
}

/**
 * Runs transactions as READ COMMITTED, whatever the server's default is: after waiting for a lock a statement must see
 * what its previous holder committed. Retries transactions after deadlocks and serialization failures.
 */
class RetryingKysely extends Kysely<Tables> {
  override transaction(): TransactionBuilder<Tables> {
    const builder = super.transaction().setIsolationLevel("read committed");
    const execute: TransactionBuilder<Tables>["execute"] = builder.execute.bind(builder);
    builder.execute = (work) => retryConflicts(() => execute(work));
    return builder;
  }
}

const MAX_TRIES = 8;

async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || tries === MAX_TRIES) throw error;
      // Jitter, so that the conflicting transactions do not retry at the same time.
      await new Promise((resolve) => void setTimeout(resolve, Math.random() * 10 * tries));
    }
  }
}
