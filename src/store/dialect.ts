/** The differences between SQLite and PostgreSQL that affect queries. */

import { hostname } from "node:os";
import type { Expression, ExpressionBuilder, InsertQueryBuilder, InsertResult } from "kysely";
import { machineMark } from "../platform/process-identity.ts";
import type { Database, Tables } from "./database.ts";

// Only types of Kysely: every process imports this file at start, usually before it needs a database.

/** A database or a transaction, with any tables. */
export interface OnDialect {
  getExecutor(): {
    readonly adapter: {
      readonly supportsMultipleConnections?: boolean;
      readonly isLocalFile?: boolean;
    };
  };
}

/** True for PostgreSQL: several machines write at the same time. SQLite has one machine and one writer at a time. */
export function isShared(db: OnDialect): boolean {
  const { supportsMultipleConnections = false, isLocalFile = false } = db.getExecutor().adapter;
  return supportsMultipleConnections && !isLocalFile;
}

/** Takes a transaction-scoped advisory lock on PostgreSQL. SQLite needs none: `begin immediate` serialises writers. */
export async function lockExclusive(transaction: Database, name: string): Promise<void> {
  if (!isShared(transaction)) return;
  const key = ({ fn, val }: ExpressionBuilder<Tables, never>) =>
    fn<unknown>("hashtextextended", [val(`gemini-search-mcp:${name}`), val(0)]);
  await transaction
    .selectNoFrom((select) => select.fn<unknown>("pg_advisory_xact_lock", [key(select)]).as("locked"))
    .execute();
}

/** The time all processes share: on PostgreSQL the server's, because the clocks of machines differ. */
export async function databaseNow(db: Database, here: number): Promise<number> {
  if (!isShared(db)) return here;
  const { seconds } = await db
    .selectNoFrom(({ fn, val }) => fn<number>("date_part", [val("epoch"), fn("clock_timestamp", [])]).as("seconds"))
    .executeTakeFirstOrThrow();
  return Math.round(seconds * 1_000);
}

/** Locks the rows of a query until the transaction ends (FOR NO KEY UPDATE). */
export const lockRows = <Query extends { forNoKeyUpdate(): Query }>(db: OnDialect, query: Query): Query =>
  isShared(db) ? query.forNoKeyUpdate() : query;

/** Identifies the machine on which process ids can be checked. Several machines may share a host name. */
export const hostHere = (db: OnDialect): string => (isShared(db) ? machineMark() : hostname());

/** Maximum delay between `updated_at` and the commit: a write may wait for a lock, or a clock may be slow. */
export const maxWriteDelayMs = (db: OnDialect): number => (isShared(db) ? 30_000 : 5_000);

/** The greater of the stored progress and this value. SQLite calls the function max, PostgreSQL greatest. */
export const progressAtLeast = (run: ExpressionBuilder<Tables, "research_tasks">, value: number): Expression<number> =>
  run.case().when("progress", "<", value).then(value).else(run.ref("progress")).end();

/** Returns the new rowid. FTS5 does not support RETURNING, and PostgreSQL reports no id without it. */
export async function insertSearchable(
  db: OnDialect,
  insert: InsertQueryBuilder<Tables, "research_search", InsertResult>,
): Promise<number> {
  if (isShared(db)) return (await insert.returning("rowid").executeTakeFirstOrThrow()).rowid;
  return Number((await insert.executeTakeFirstOrThrow()).insertId);
}
