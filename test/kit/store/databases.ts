/** Selects the database of a test, SQLite or PostgreSQL, by the Vitest project, invisibly to the test itself. */

import { randomUUID } from "node:crypto";
import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { sql } from "kysely";
import { inject, type RunnerTestCase as Test, TestRunner } from "vitest";
import type { Database } from "../../../src/store/database.ts";

/** A database with the schema: copying it is faster than running the migrations. */
export const TEMPLATE = "template_with_schema";

export const onPostgres = process.env["TEST_DATABASE"] === "postgres";

/**
 * Within this time another process polls the runs of a killed one. With the table of runs as the queue, its death is
 * detected; pg-boss retries a poll that was in flight after its expiry (15 s) and the next supervision (8 s).
 */
export const TAKE_OVER_MS = onPostgres ? 40_000 : 8_000;

type Shared = { url: string; connections: number };

const made = new Map<string, Promise<string>>();

/**
 * The PostgreSQL database that represents this file: the same for the same file, empty for another. Undefined on
 * SQLite. With one connection, queries are executed in order, as on SQLite.
 */
export async function sharedFor(file: string = randomUUID(), connections = 6): Promise<Shared | undefined> {
  if (!onPostgres) return undefined;
  const url = made.get(file) ?? newDatabase();
  made.set(file, url);
  return { url: await url, connections };
}

/** The same as an environment variable, for a process. */
export async function databaseEnvironment(file: string): Promise<Record<string, string>> {
  const shared = await sharedFor(file);
  return shared === undefined ? {} : { GEMINI_SEARCH_DATABASE_URL: shared.url };
}

/** Gives a config directory a database file with the schema, as an earlier process leaves it; the lab has no template. */
export function copyTemplate(configDir: string): void {
  const isLab = process.env["VITEST"] === undefined;
  if (!onPostgres && !isLab) copyFileSync(inject("sqliteTemplate"), join(configDir, "deep_research.db"));
}

const newDatabase = (): Promise<string> => createDatabase(`template ${TEMPLATE}`);

/** A database without a schema. */
export const emptyDatabase = (): Promise<string> => createDatabase("");

async function createDatabase(how: string): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await onServer(`create database ${name} ${how}`);
  return inject("postgres") + name;
}

/** Executes one statement on the server, outside of the tests' databases. */
export async function onServer(statement: string): Promise<void> {
  const server = inject("postgres");
  if (server === "") TestRunner.getCurrentTest<Test | undefined>()?.context.skip("PostgreSQL is not installed");
  await ask(`${server}postgres`, statement);
}

/** Executes one statement on a database directly. */
export async function ask<Row extends object>(url: string, statement: string, values: unknown[] = []): Promise<Row[]> {
  const { Client, types } = await import("pg");
  const numbers = (oid: number, format?: "text" | "binary") =>
    oid === 20 || oid === 1_700 ? Number : types.getTypeParser(oid, format);
  const client = new Client({ connectionString: url, types: { getTypeParser: numbers } });
  await client.connect();
  try {
    return (await client.query<Row>(statement, values)).rows;
  } finally {
    await client.end();
  }
}

/** Gives this database a fixed time: new connections find a function that hides the built-in clock. */
export async function stopClock(url: string, at: number): Promise<void> {
  await ask(
    url,
    `create table stopped_clock (at double precision);
    insert into stopped_clock values (${at});
    create function clock_timestamp() returns timestamptz language sql
      as 'select to_timestamp(at / 1000) from public.stopped_clock';`,
  );
  await ask(url, `alter database ${new URL(url).pathname.slice(1)} set search_path = public, pg_catalog`);
}

/** On SQLite the time comes from the caller, so there is nothing to set. */
export async function setClock(db: Database, at: number): Promise<void> {
  if (onPostgres) await sql`update stopped_clock set at = ${at}`.execute(db);
}

const TABLES = ["research_tasks", "research_attempts", "research_results", "research_events", "processes", "leases"];

/** Makes the database read-only, like a server that became a standby. */
export async function refuseWrites(url: string): Promise<void> {
  await ask(
    url,
    `create or replace function refuse() returns trigger language plpgsql as $$
      begin raise exception 'read-only' using errcode = '25006'; end $$;
    ${TABLES.map((table) => `create trigger refused before insert or update or delete on ${table} execute function refuse();`).join("\n")}`,
  );
}

export async function allowWrites(url: string): Promise<void> {
  const statement = TABLES.map((table) => `drop trigger refused on ${table};`).join("\n");
  for (let left = 5; ; left -= 1) {
    try {
      await ask(url, statement);
      return;
    } catch (error) {
      // It locks one table after the other while the product continues to use them.
      const isDeadlock = error instanceof Error && "code" in error && error.code === "40P01";
      if (!isDeadlock || left === 0) throw error;
    }
  }
}

/** Reads or changes the database that represents this file, directly. */
export function sqlOn<Row>(
  { file, url }: { file: string; url: string | undefined },
  statement: string,
  values: SQLInputValue[],
): Row[] {
  if (url !== undefined) return throughPsql<Row>(url, statement, values);
  const database = new DatabaseSync(file, { timeout: 5_000 });
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the test knows the columns it asked for
    return database.prepare(statement).all(...values) as Row[];
  } finally {
    database.close();
  }
}

/** Waits synchronously for the result, as the driver of SQLite does. */
function throughPsql<Row>(url: string, statement: string, values: SQLInputValue[]): Row[] {
  let place = 0;
  const filled = statement.replaceAll("?", () => literal(values[place++] ?? null));
  const isRead = /^\s*select/i.test(statement);
  const asked = isRead ? `select coalesce(json_agg(row_to_json(t)), '[]') from (${filled}) as t` : filled;
  const said = execFileSync("psql", ["-qAtX", "-v", "ON_ERROR_STOP=1", "-c", asked, url], { encoding: "utf8" });
  return isRead ? JSON.parse(said) : [];
}

const literal = (value: SQLInputValue): string =>
  value === null || typeof value === "number" || typeof value === "bigint"
    ? String(value)
    : `'${String(value).replaceAll("'", "''")}'`;
