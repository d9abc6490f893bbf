/** Creates or migrates the schema of a database, and compares it with that of this program. */

import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import { AppError } from "../errors.ts";
import type { Database } from "./database.ts";
import { isShared } from "./dialect.ts";
import * as schema from "./migrations/0001-schema.ts";

/** A name ends with a hash of its statements, so that a database of another build is recognised. */
export const MIGRATIONS: Record<string, Migration> = {
  "0001-schema-ed4a16b6": schema,
};

/** `foreign`: created by a development build with other migrations. */
export type SchemaState = "empty" | "older" | "current" | "newer" | "foreign";

export async function schemaState(db: Database, migrations = MIGRATIONS): Promise<SchemaState> {
  const applied = await appliedMigrations(db);
  const known = Object.keys(migrations);
  const latest = known.at(-1) ?? "";
  const isLater = (name: string): boolean => numberOf(name) > numberOf(latest);
  if (applied.length === 0) return "empty";
  if (applied.some((name) => !known.includes(name) && !isLater(name))) return "foreign";
  if (applied.some(isLater)) return "newer";
  return applied.includes(latest) ? "current" : "older";
}

const numberOf = (name: string): number => Number.parseInt(name, 10);

export const newerSchema = (database: string): AppError =>
  new AppError({
    code: "SQLITE_ERROR",
    message: `${database} was written by a newer gemini-search-mcp and is read-only here.`,
    suggestion: "Update this installation and restart it.",
  });

export const foreignSchema = (database: string, suggestion: string): AppError =>
  new AppError({
    code: "SQLITE_ERROR",
    message: `${database} was created by a development build with another schema. Nothing in it was changed.`,
    suggestion,
  });

export async function tableExists(db: Database, name: string): Promise<boolean> {
  const { rows } = isShared(db)
    ? await sql`select 1 where to_regclass(${name}) is not null`.execute(db)
    : await sql`select 1 from sqlite_master where type = 'table' and name = ${name}`.execute(db);
  return rows.length > 0;
}

async function appliedMigrations(db: Database): Promise<string[]> {
  if (!(await tableExists(db, "kysely_migration"))) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return rows.map(({ name }) => name);
}

/** Safe to call from several processes at once: the second waits for the lock and finds nothing to do. */
export async function migrate(db: Database, migrations = MIGRATIONS): Promise<void> {
  const { Migrator } = await import("kysely/migration");
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateToLatest();
  if (error !== undefined) throw error;
}
