/** PostgreSQL for several machines: how it is reached, brought to this program's schema, and kept within its limits. */

import { Kysely, PostgresDialect, sql, type TransactionBuilder } from "kysely";
import type { ClientConfig, Pool, PoolConfig } from "pg";
import { AppError } from "../../errors.ts";
import type { Log } from "../../platform/log.ts";
import type { Database, OpenDatabase, Tables } from "../database.ts";
import { needsExclusiveMigration, migrate, schemaState } from "../migrate.ts";
import { createDriverPool, isConflict } from "./driver.ts";
import { createRunNotifications, type RunNotifications } from "./run-notifications.ts";

export interface PostgresOptions {
  url: string;
  connections: number;
  log: Pick<Log, "debug" | "warn">;
}

/** What the server shows of our connections. */
const APPLICATION = "gemini-search-mcp";
/** The first whose every feature used here was tried. */
const OLDEST_VERSION = 150_000;
/** Leases last a minute and are renewed every 15 seconds: that much of it a wrong clock may use up unnoticed. */
const CLOCK_TOLERANCE_MS = 5_000;
/** Nothing here takes longer; a network that swallows answers does. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** The server's own limit comes first; this one is for the server that is not heard any more. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000;
/** How soon an idle connection is asked whether it still leads anywhere. */
const KEEP_ALIVE_AFTER_MS = 10_000;

export async function openPostgres({ url, connections, log }: PostgresOptions): Promise<OpenDatabase> {
  checkAddress(url);
  const connect = await connector(url, log);
  const state = await preparing(connect, (db) => bringUpToDate(db, log));
  const writable = state !== "newer";
  const session = [
    `set statement_timeout = ${STATEMENT_TIMEOUT_MS}`,
    `set idle_in_transaction_session_timeout = ${STATEMENT_TIMEOUT_MS}`,
    ...(writable ? [] : ["set default_transaction_read_only = on"]),
  ];
  const db = connect({ max: connections, query_timeout: ANSWER_TIMEOUT_MS }, session);
  const notifications = await openNotifications(url, db, log);
  const close = async (): Promise<void> => {
    await notifications.close();
    await db.destroy();
  };
  return { db, writable, notifications, close };
}

async function openNotifications(url: string, db: Database, log: PostgresOptions["log"]): Promise<RunNotifications> {
  const { Client } = await importDriver();
  return createRunNotifications({
    createClient: () => new Client(connectionConfig(url)),
    send: (channel, payload) => sql`select pg_notify(${channel}, ${payload})`.execute(db),
    log,
  });
}

/** A look that changes nothing, not even the schema. */
export async function readOnlyPostgres<T>(
  { url, log }: Omit<PostgresOptions, "connections">,
  look: (db: Database) => Promise<T>,
): Promise<T> {
  checkAddress(url);
  return preparing(await connector(url, log), async (db) => {
    await checkServer(db, log);
    return look(db);
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
    // An idle connection that breaks would end the process otherwise; the next query makes a new one.
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

/** int8 and numeric, which the driver would give as text: all of ours are times, counts and sums far below 2^53. */
const NUMBERS = new Set([20, 1_700]);

/** Optional: who keeps the state in a file does not install it. */
async function importDriver(): Promise<typeof import("pg")> {
  try {
    return await import("pg");
  } catch (error) {
    throw new AppError({
      code: "SQLITE_ERROR",
      message: "GEMINI_SEARCH_DATABASE_URL is set, but the driver for PostgreSQL is not installed.",
      suggestion: `Run this in ${installedIn()}: npm install pg pg-boss@12.35.0`,
      cause: error,
    });
  }
}

/** Where packages are found from here: beside ours, wherever npm has put that. */
function installedIn(): string {
  const here = import.meta.dirname.replaceAll("\\", "/");
  const [above] = here.split(/\/node_modules\/gemini-search-mcp(?:\/|$)/);
  return above === here || above === undefined ? here.replace(/\/(?:dist|src)(?:\/.*)?$/, "") : above;
}

function checkAddress(url: string): void {
  if (/^postgres(?:ql)?:\/\/./.test(url) && URL.canParse(url)) return;
  throw new AppError({
    code: "SQLITE_ERROR",
    message: "GEMINI_SEARCH_DATABASE_URL is not the address of a PostgreSQL database.",
    suggestion: "It looks like postgres://user:password@host:5432/database, with special characters as %XX.",
  });
}

/** On connections of its own: to wait for a migration, or to build an index, may take longer than any query. */
async function preparing<T>(connect: Connect, work: (db: Database) => Promise<T>): Promise<T> {
  const db = connect({ max: 2, application_name: `${APPLICATION} setup` }, []);
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

async function bringUpToDate(db: Database, log: PostgresOptions["log"]) {
  await checkServer(db, log);
  const state = await schemaState(db);
  if (state === "newer") {
    log.warn(
      "The PostgreSQL database was written by a newer gemini-search-mcp. It is only read from here; update this one to keep new runs.",
    );
  }
  // No copy is made before, as of a file: pg_dump is the operator's.
  if (state === "older" || state === "empty") {
    if (await isBesideOlder(db)) throw besideOlder();
    await migrateInTurn(db);
  }
  return state;
}

/**
 * One process at a time: Kysely reads the columns of all tables before it takes a lock of its own, and PostgreSQL
 * refuses that while another process drops one.
 */
const migrateInTurn = (db: Database): Promise<void> =>
  db.connection().execute(async (connection) => {
    const lock = sql`hashtextextended(${`${APPLICATION}:migrate`}, 0)`;
    await sql`select pg_advisory_lock(${lock})`.execute(connection);
    try {
      const state = await schemaState(connection);
      if (state === "older" || state === "empty") await migrate(connection);
    } finally {
      await sql`select pg_advisory_unlock(${lock})`.execute(connection);
    }
  });

/** As long as the schema is an older one, only processes of older versions have connections of this name. */
async function isBesideOlder(db: Database): Promise<boolean> {
  const { rows } = await sql<{ connections: number }>`
    select count(*) as connections from pg_stat_activity
    where datname = current_database() and application_name = ${APPLICATION}`.execute(db);
  // Asked last: another process of this version may have migrated it meanwhile.
  return (rows[0]?.connections ?? 0) > 0 && needsExclusiveMigration(db);
}

const besideOlder = (): AppError =>
  new AppError({
    code: "SQLITE_ERROR",
    message:
      "Processes of an earlier gemini-search-mcp use this PostgreSQL database, and this version cannot work beside them. Nothing was changed.",
    suggestion: "Stop all servers and workers of the earlier version, then start this one. No run is lost meanwhile.",
  });

async function checkServer(db: Database, log: PostgresOptions["log"]): Promise<void> {
  const asked = Date.now();
  const { rows } = await sql<{ version: number; encoding: string; now: number }>`
    select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
      (extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(db);
  const answered = Date.now();
  const [server] = rows;
  if (server === undefined || server.version < OLDEST_VERSION || server.encoding !== "UTF8") {
    throw new AppError({
      code: "SQLITE_ERROR",
      message: "The PostgreSQL server is older than version 15, or its database is not in UTF8.",
      suggestion: "Give GEMINI_SEARCH_DATABASE_URL a database of its own: create database research encoding 'UTF8'.",
    });
  }
  const ahead = Math.round((asked + answered) / 2 - server.now);
  if (Math.abs(ahead) > CLOCK_TOLERANCE_MS) {
    log.warn(
      `The clock of this machine is ${Math.abs(ahead)} ms ${ahead > 0 ? "ahead of" : "behind"} the database's. Machines that share a database need the same time: set up NTP.`,
    );
  }
}

/**
 * Every transaction sees what others committed before each of its statements, whatever the server's default is: who
 * waited for a lock must see what the one before did. One that the server ends for the sake of others is made again.
 */
class RetryingKysely extends Kysely<Tables> {
  override transaction(): TransactionBuilder<Tables> {
    const builder = super.transaction().setIsolationLevel("read committed");
    const execute: TransactionBuilder<Tables>["execute"] = builder.execute.bind(builder);
    builder.execute = (work) => retried(() => execute(work));
    return builder;
  }
}

const MOST_TRIES = 8;

async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || tries === MOST_TRIES) throw error;
      // Not in step with whom it got in the way of.
      await new Promise((resolve) => void setTimeout(resolve, Math.random() * 10 * tries));
    }
  }
}
