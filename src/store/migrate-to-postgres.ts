/** Copies the SQLite database to PostgreSQL in one transaction of each, and compares all rows. */

import { hash } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import { AppError } from "../errors.ts";
import { isoTime } from "../platform/clock.ts";
import { failpoint } from "../platform/failpoint.ts";
import type { Log } from "../platform/log.ts";
import { type Database, storable } from "./database.ts";
import { tableExists } from "./migrate.ts";
import { processesLeft } from "./processes.ts";

type Row = Record<string, unknown>;

interface CopiedTable {
  name: string;
  /** The columns of the primary key, in order. */
  key: readonly string[];
  /** Rows per page; few where a row can contain a whole report. */
  batch: number;
}

const table = (name: string, key: readonly string[], batch = 200): CopiedTable => ({ name, key, batch });

/** Referenced rows come first. */
export const COPIED_TABLES: readonly CopiedTable[] = [
  table("research_tasks", ["task_id"]),
  table("research_attempts", ["attempt_id"]),
  table("ledger", ["entry_id"]),
  table("research_results", ["task_id"], 20),
  table("research_files", ["task_id", "kind", "n"], 2),
  table("research_pages", ["task_id", "source"]),
  table("research_evidence", ["task_id", "claim", "source", "kind"]),
  table("research_events", ["task_id", "seq"], 50),
  table("notification_outbox", ["outbox_id"]),
  table("schedules", ["schedule_id"]),
  table("webhooks", ["webhook_id"]),
  table("access_tokens", ["token_hash"]),
];

/** Short-lived or tied to a process, and the full-text index, whose texts are copied, but not compared. */
export const NOT_COPIED_TABLES: readonly string[] = ["processes", "leases", "page_keys", "research_search"];

interface StorePair {
  source: Database;
  target: Database;
}

export interface MigrationOptions extends StorePair {
  /** The target as recorded in the source, without user and password. */
  targetName: string;
  /** Migrates even if processes seem to use one of the databases. */
  force: boolean;
  now: number;
  signal: AbortSignal;
  /** `figure`: how far it is. */
  progress(subject: string, figure?: string): void;
}

export interface Comparison {
  table: string;
  source: number;
  target: number;
  same: boolean;
}

export interface MigrationResult {
  /** The target already contained the rows. */
  wasFinished: boolean;
  tables: Comparison[];
}

/** Locks the source for the whole copy, so that no process writes what would not be copied. */
export function migrateStore(options: MigrationOptions): Promise<MigrationResult> {
  const { target, targetName, force, progress } = options;
  return options.source.transaction().execute(async (source) => {
    if (await hasRows(target)) {
      const tables = await compareStores({ source, target }, progress);
      if (differing(tables).length > 0 && (await readMark(source))?.target !== targetName) throw otherData();
      await markMigrated(source, options);
      return { wasFinished: true, tables };
    }
    if (!force) await rejectInUse(source, "file");
    if (!force) await rejectInUse(target, "PostgreSQL database");
    const tables = await target.transaction().execute(async (transaction) => {
      await copyAll({ ...options, source, target: transaction });
      const compared = await compareStores({ source, target: transaction }, progress);
      rejectDifferences(compared);
      return compared;
    });
    failpoint("before-source-marked");
    await markMigrated(source, options);
    return { wasFinished: false, tables };
  });
}

/** Each has a whole report. */
const INDEXED_BATCH = 20;

async function copyAll({ source, target, progress, signal }: MigrationOptions): Promise<void> {
  // Building the index takes long; a run may precede its parent.
  await sql`set local statement_timeout = 0`.execute(target);
  await sql`set constraints all deferred`.execute(target);
  for (const copied of COPIED_TABLES) {
    const total = await countRows(source, copied.name);
    let done = 0;
    for await (const rows of pages(source, copied)) {
      if (signal.aborted) throw interrupted();
      await insertRows(target, copied.name, rows);
      failpoint("after-copied-batch");
      done += rows.length;
      progress(copied.name, `${done} rows of ${total}`);
    }
  }
  progress("Indexing the reports");
  for (let after = 0; ;) {
    const texts = source.selectFrom("research_search").select(["rowid", "task_id", "query", "report", "beside"]);
    const rows = await texts.where("rowid", ">", after).orderBy("rowid").limit(INDEXED_BATCH).execute();
    if (rows.length > 0) await insertRows(target, "research_search", rows);
    after = rows.at(-1)?.rowid ?? after;
    if (rows.length < INDEXED_BATCH) break;
  }
  for (const [name, key] of [
    ["notification_outbox", "outbox_id"],
    ["research_search", "rowid"],
  ] as const) {
    await sql`
      select setval(pg_get_serial_sequence(${name}, ${key}), greatest(max(${sql.ref(key)}), 1))
      from ${sql.table(name)}`.execute(target);
  }
}

/** Compares the number and the contents of all rows. Read-only. */
async function compareStores(
  { source, target }: StorePair,
  progress: (message: string) => void,
): Promise<Comparison[]> {
  const tables: Comparison[] = [];
  for (const compared of COPIED_TABLES) {
    progress(`Comparing ${compared.name}`);
    const [here, there] = [await sumOf(source, compared), await sumOf(target, compared)];
    tables.push({ table: compared.name, source: here.count, target: there.count, same: here.sum === there.sum });
  }
  return tables;
}

async function hasRows(db: Database): Promise<boolean> {
  for (const { name } of COPIED_TABLES) if ((await countRows(db, name)) > 0) return true;
  return false;
}

const differing = (tables: readonly Comparison[]): string[] =>
  tables.filter(({ same }) => !same).map(({ table: name }) => name);

async function countRows(db: Database, name: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Keyset pagination by primary key: needs no database cursor and holds one page in memory. */
async function* pages(db: Database, { name, key, batch }: CopiedTable): AsyncGenerator<Row[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  let beyond: RawBuilder<unknown> = sql``;
  for (;;) {
    const { rows } = await sql<Row>`
      select * from ${sql.table(name)} ${beyond} order by ${columns} limit ${sql.lit(batch)}`.execute(db);
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (rows.length < batch || last === undefined) return;
    beyond = sql`where (${columns}) > (${sql.join(key.map((column) => last[column]))})`;
  }
}

async function insertRows(db: Database, name: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
  await sql`
    insert into ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values ${sql.join(values)}`.execute(db);
}

const MODULUS = 1n << 256n;

/** The sum of the hashes of all rows: the databases do not sort text alike. */
async function sumOf(db: Database, compared: CopiedTable): Promise<{ count: number; sum: bigint }> {
  let [count, sum] = [0, 0n];
  for await (const rows of pages(db, compared)) {
    for (const row of rows) sum = (sum + hashOf(row)) % MODULUS;
    count += rows.length;
  }
  return { count, sum };
}

/** Both drivers return equal values, except for the column order and the class of binary data. */
function hashOf(row: Row): bigint {
  const fields = Object.entries(row)
    .map(([column, value]) => [column, canonical(value)] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return BigInt(`0x${hash("sha256", JSON.stringify(fields), "hex")}`);
}

function canonical(value: unknown): unknown {
  if (typeof value === "string") return storable(value);
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("base64") } : (value ?? null);
}

async function markMigrated(
  source: Database,
  { targetName, now }: Pick<MigrationOptions, "targetName" | "now">,
): Promise<void> {
  await sql`create table if not exists migrated_to (target text not null, at bigint not null)`.execute(source);
  await sql`delete from migrated_to`.execute(source);
  await sql`insert into migrated_to values (${targetName}, ${now})`.execute(source);
  // The copies start their runs.
  await sql`update schedules set paused = 1, next_at = null`.execute(source);
}

async function readMark(source: Database): Promise<{ target: string; at: number } | undefined> {
  if (!(await tableExists(source, "migrated_to"))) return undefined;
  const { rows } = await sql<{ target: string; at: number }>`select target, at from migrated_to`.execute(source);
  return rows[0];
}

/** If both databases are in use, each run is notified twice, and neither has the new runs of the other. */
export async function warnIfMigrated(db: Database, log: Pick<Log, "warn">): Promise<void> {
  const migrated = await readMark(db);
  if (migrated === undefined) return;
  log.warn(
    `The database was moved to PostgreSQL at ${migrated.target} on ${isoTime(migrated.at)}, and this process still uses the file, so runs are polled in both databases. Set GEMINI_SEARCH_DATABASE_URL.`,
  );
}

async function rejectInUse(db: Database, what: string): Promise<void> {
  const left = await processesLeft(db);
  if (left.length === 0) return;
  const named = left.slice(0, 5).map(({ pid }) => pid);
  throw new AppError({
    code: "SQLITE_ERROR",
    message: `Other processes use the ${what} (${named.join(", ")}), and one of them may be about to start a paid run.`,
    suggestion:
      "Close the clients and stop the servers and workers that use it; --force if they are no longer running.",
  });
}

function rejectDifferences(tables: readonly Comparison[]): void {
  const different = differing(tables);
  if (different.length === 0) return;
  throw new AppError({
    code: "SQLITE_ERROR",
    message: `The copied rows differ from the file in: ${different.join(", ")}. Nothing was changed; keep using the file.`,
    suggestion: "Another program writes to the PostgreSQL database. Use an empty database for the migration.",
  });
}

const otherData = (): AppError =>
  new AppError({
    code: "SQLITE_ERROR",
    message: "The PostgreSQL database contains runs that did not come from this file. Nothing was changed.",
    suggestion: "Use an empty database: create database research encoding 'UTF8'.",
  });

const interrupted = (): AppError =>
  new AppError({
    code: "INTERRUPTED",
    message: "The migration was interrupted, and nothing was copied. Keep using the file.",
    suggestion: "Run the same command again.",
  });
