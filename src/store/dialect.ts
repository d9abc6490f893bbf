/** Where SQLite and PostgreSQL differ, in one place: no query asks which of them it runs on. */

import { hostname } from "node:os";
import type { ColumnDefinitionBuilder, Expression, ExpressionBuilder, InsertQueryBuilder, InsertResult } from "kysely";
import { machineMark } from "../platform/process-identity.ts";
import type { Database, Tables } from "./database.ts";

// Types of Kysely alone: the doors import this before anybody needs a database.

/** A database, or a transaction on one, whatever its tables. */
export interface OnDialect {
  getExecutor(): {
    readonly adapter: { readonly supportsMultipleConnections?: boolean; readonly isLocalFile?: boolean };
  };
}

/** Many machines may write to it, several at the same moment. SQLite has one machine, and one writer at a time. */
export function isShared(db: OnDialect): boolean {
  const { supportsMultipleConnections = false, isLocalFile = false } = db.getExecutor().adapter;
  return supportsMultipleConnections && !isLocalFile;
}

/**
 * Nobody else is past this line for the same name until the transaction ends: what is read from here on still holds
 * when it is written. `begin immediate` gives SQLite the same for every name.
 */
export async function alone(transaction: Database, name: string): Promise<void> {
  if (!isShared(transaction)) return;
  const key = `gemini-search-mcp:${name}`;
  await transaction
    .selectNoFrom(({ fn, val }) => fn("pg_advisory_xact_lock", [fn("hashtextextended", [val(key), val(0)])]).as("held"))
    .execute();
}

/** The same for what one of all is enough for: false when somebody else is at it. */
export async function aloneOrNot(transaction: Database, name: string): Promise<boolean> {
  if (!isShared(transaction)) return true;
  const key = `gemini-search-mcp:${name}`;
  const { held: isHeld } = await transaction
    .selectNoFrom(({ fn, val }) =>
      fn<boolean>("pg_try_advisory_xact_lock", [fn("hashtextextended", [val(key), val(0)])]).as("held"),
    )
    .executeTakeFirstOrThrow();
  return isHeld;
}

/**
 * The time that all who share this database go by: their machines' clocks differ, and a rate that each counted by its
 * own would be the fastest clock's alone.
 */
export async function nowOf(db: Database, here: number): Promise<number> {
  if (!isShared(db)) return here;
  const { seconds } = await db
    .selectNoFrom(({ fn, val }) => fn<number>("date_part", [val("epoch"), fn("clock_timestamp", [])]).as("seconds"))
    .executeTakeFirstOrThrow();
  return Math.round(seconds * 1_000);
}

/** So long after the same time, said inside a statement: where nobody waits, a second one could come too late. */
export function afterNow(
  db: OnDialect,
  run: ExpressionBuilder<Tables, "research_tasks">,
  { here, ms }: { here: number; ms: number },
): Expression<number> {
  if (!isShared(db)) return run.val(here + ms);
  const seconds = run.fn<number>("date_part", [run.val("epoch"), run.fn("clock_timestamp", [])]);
  return run(run(seconds, "*", 1_000), "+", ms);
}

/** The rows that it finds stay as they are until the transaction ends. */
export const held = <Query extends { forNoKeyUpdate(): Query }>(db: OnDialect, query: Query): Query =>
  isShared(db) ? query.forNoKeyUpdate() : query;

/** Rows that another transaction is about to change are passed over rather than waited for. */
export const passingOver = <Query extends { forUpdate(): Query; skipLocked(): Query }>(
  db: OnDialect,
  query: Query,
): Query => (isShared(db) ? query.forUpdate().skipLocked() : query);

/** Whose processes can be told alive from dead by their number: those of one machine, not of its namesakes. */
export const hostHere = (db: OnDialect): string => (isShared(db) ? machineMark() : hostname());

/** How long after its date a write may be seen: it waited for a lock, or its machine's clock is slow. */
export const lateByMs = (db: OnDialect): number => (isShared(db) ? 30_000 : 5_000);

/** What the run has, or this where it is more. SQLite calls it max, PostgreSQL greatest. */
export const progressAtLeast = (run: ExpressionBuilder<Tables, "research_tasks">, value: number): Expression<number> =>
  run.case().when("progress", "<", value).then(value).else(run.ref("progress")).end();

/** The number of the new row. FTS5 tells it only beside the statement, PostgreSQL only in it. */
export async function insertSearchable(
  db: OnDialect,
  insert: InsertQueryBuilder<Tables, "research_search", InsertResult>,
): Promise<number> {
  if (isShared(db)) return (await insert.returning("rowid").executeTakeFirstOrThrow()).rowid;
  return Number((await insert.executeTakeFirstOrThrow()).insertId);
}

interface ColumnTypes {
  bytes: "blob" | "bytea";
  /** SQLite's `real` has eight bytes, PostgreSQL's four. */
  real: "real" | "double precision";
  /** A number that the database gives to every new row. */
  numbered: "integer" | "bigserial";
  numberedKey: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;
}

export const columnTypes = (db: OnDialect): ColumnTypes =>
  isShared(db)
    ? {
        bytes: "bytea",
        real: "double precision",
        numbered: "bigserial",
        numberedKey: (column) => column.primaryKey(),
      }
    : {
        bytes: "blob",
        real: "real",
        numbered: "integer",
        numberedKey: (column) => column.primaryKey().autoIncrement(),
      };
