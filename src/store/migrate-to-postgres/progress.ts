/** Migration markers in both databases: which file was migrated where, and how far. */

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { AppError } from "../../errors.ts";
import { isoTime } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../database.ts";
import { tableExists } from "../migrate.ts";

/** The current step of a migration, and the key of the last row it has written. */
export interface MigrationCursor {
  step: number;
  after: readonly unknown[] | undefined;
}

export interface MigrationState extends MigrationCursor {
  sourceId: string;
  finished: boolean;
}

/** Returns the id stored in the source, creating it if needed. A copy of the file has the same id. */
export async function ensureSourceId(source: Database): Promise<string> {
  return source.transaction().execute(async (transaction) => {
    await sql`create table if not exists moved_to (source_id text primary key, moved_at bigint, place text)`.execute(
      transaction,
    );
    const known = await readSourceId(transaction);
    if (known !== undefined) return known;
    const name = randomUUID();
    await sql`insert into moved_to (source_id) values (${name})`.execute(transaction);
    return name;
  });
}

/** Undefined before the first migration of this file. */
export async function readSourceId(source: Database): Promise<string | undefined> {
  if (!(await tableExists(source, "moved_to"))) return undefined;
  const { rows } = await sql<{ source_id: string }>`select source_id from moved_to`.execute(source);
  return rows[0]?.source_id;
}

export async function markMigrated(
  source: Database,
  { targetName, now }: { targetName: string; now: number },
): Promise<void> {
  await sql`update moved_to set moved_at = ${now}, place = ${targetName}`.execute(source);
}

/** If both databases are in use, each run is notified twice, and neither has the new runs of the other. */
export async function warnIfMigrated(db: Database, log: Pick<Log, "warn">): Promise<void> {
  if (!(await tableExists(db, "moved_to"))) return;
  const { rows } = await sql<{ moved_at: number; place: string }>`
    select moved_at, place from moved_to where moved_at is not null`.execute(db);
  const [moved] = rows;
  if (moved === undefined) return;
  log.warn(
    `The database was moved to PostgreSQL at ${moved.place} on ${isoTime(moved.moved_at)}, and this process still uses the file, so runs are polled in both databases. Set GEMINI_SEARCH_DATABASE_URL.`,
  );
}

/** Undefined if no migration into this database was begun. */
export async function readMigrationState(target: Database): Promise<MigrationState | undefined> {
  if (!(await tableExists(target, "moved_from"))) return undefined;
  const { rows } = await sql<{
    source_id: string;
    step: number;
    after_json: string | null;
    finished_at: number | null;
  }>`
    select source_id, step, after_json, finished_at from moved_from`.execute(target);
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    sourceId: row.source_id,
    step: row.step,
    after: row.after_json === null ? undefined : keyOf(JSON.parse(row.after_json)),
    finished: row.finished_at !== null,
  };
}

const keyOf = (value: unknown): unknown[] | undefined => (Array.isArray(value) ? value : undefined);

export async function beginMigration(
  target: Database,
  { sourceId, now }: { sourceId: string; now: number },
): Promise<void> {
  await sql`
    create table if not exists moved_from (
      source_id text primary key, started_at bigint not null, finished_at bigint, step integer not null, after_json text
    )`.execute(target);
  await sql`insert into moved_from (source_id, started_at, step) values (${sourceId}, ${now}, 0)`.execute(target);
}

/** Called in the transaction that writes the rows. */
export async function saveCursor(transaction: Database, { step, after }: MigrationCursor): Promise<void> {
  const afterJson = after === undefined ? null : JSON.stringify(after);
  await sql`update moved_from set step = ${step}, after_json = ${afterJson}`.execute(transaction);
}

export async function finishMigration(target: Database, now: number): Promise<void> {
  await sql`update moved_from set finished_at = ${now}`.execute(target);
}

/** In a partly copied database, runs would be changed before the rest of their rows are copied. */
export async function rejectUnfinishedMigration(db: Database): Promise<void> {
  const state = await readMigrationState(db);
  if (state === undefined || state.finished) return;
  throw new AppError({
    code: "SQLITE_ERROR",
    message: "A migration into this PostgreSQL database has not finished.",
    suggestion: "Run `gemini-search-mcp migrate` again with the same file to continue.",
  });
}
