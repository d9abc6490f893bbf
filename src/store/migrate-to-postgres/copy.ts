/** Copies the SQLite database to PostgreSQL: resumable after any batch, and verified by checksums. */

import { sql } from "kysely";
import { AppError } from "../../errors.ts";
import { failpoint } from "../../platform/failpoint.ts";
import type { Database } from "../database.ts";
import { insertSearchable } from "../dialect.ts";
import {
  beginMigration,
  finishMigration,
  saveCursor,
  markMigrated,
  readMigrationState,
  ensureSourceId,
  readSourceId,
} from "./progress.ts";
import { updateColumn, countRows, insertRows, keyOf, omitColumns, pages, sumOf } from "./rows.ts";
import { COPIED_TABLES, type CopiedTable, type Row } from "./tables.ts";
import { tableExists } from "../migrate.ts";
import { processesLeft } from "../processes.ts";

export interface StorePair {
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
  progress(message: string): void;
}

export interface Comparison {
  table: string;
  source: number;
  target: number;
  /** Undefined when the rows were only counted. */
  same: boolean | undefined;
}

export interface MigrationResult {
  /** An earlier migration was complete: only the marker in the source was written. */
  wasFinished: boolean;
  tables: Comparison[];
}

/** Locks the source for the whole copy, so that rows already copied cannot change. */
export async function migrateStore(options: MigrationOptions): Promise<MigrationResult> {
  const { source, target, now, targetName, progress } = options;
  const sourceId = await ensureSourceId(source);
  return source.transaction().execute(async (locked) => {
    const claimed = await claimTarget({ ...options, source: locked }, sourceId);
    const migration = { ...options, source: locked };
    if (!claimed.finished) await copyAll(migration);
    let tables = await compareStores(migration, progress);
    if (!claimed.finished && differing(tables).length > 0 && claimed.continued) {
      progress("The file has changed since the migration began: starting over");
      await truncateTarget(target);
      await copyAll(migration);
      tables = await compareStores(migration, progress);
    }
    if (!claimed.finished) {
      rejectDifferences(tables);
      await resetSequence(target);
      failpoint("before-move-finished");
      await finishMigration(target, now);
    }
    failpoint("before-source-marked");
    await markMigrated(locked, { targetName, now });
    return { wasFinished: claimed.finished, tables };
  });
}

/** Compares all rows by checksum, regardless of order. Read-only. */
export async function compareStores(
  { source, target }: StorePair,
  progress: (message: string) => void,
): Promise<Comparison[]> {
  const tables: Comparison[] = [];
  for (const table of COPIED_TABLES) {
    progress(`Comparing ${table.name}`);
    const [here, there] = [await sumOf(source, table, table.inSource), await sumOf(target, table, table.inTarget)];
    tables.push({ table: table.name, source: here.count, target: there.count, same: here.sum === there.sum });
  }
  return tables;
}

/** Counts the rows of both databases, either of which may have no tables yet. */
export async function countStores({ source, target }: StorePair): Promise<Comparison[]> {
  const tables: Comparison[] = [];
  for (const { name, inSource, inTarget } of COPIED_TABLES) {
    const here = (await tableExists(source, name)) ? await countRows(source, inSource) : 0;
    const there = (await tableExists(target, name)) ? await countRows(target, inTarget) : 0;
    tables.push({ table: name, source: here, target: there, same: undefined });
  }
  return tables;
}

/** Throws if the target contains data that did not come from this source. */
export async function rejectOtherTarget({ source, target }: StorePair): Promise<void> {
  const state = await readMigrationState(target);
  if (state !== undefined && state.sourceId !== (await readSourceId(source))) throw otherData();
  if (state === undefined && (await countStores({ source, target })).some(({ target: rows }) => rows > 0)) {
    throw otherData();
  }
}

export const differing = (tables: readonly Comparison[]): string[] =>
  tables.filter(({ same }) => same === false).map(({ table }) => table);

interface ClaimedTarget {
  finished: boolean;
  continued: boolean;
}

async function claimTarget({ source, target, force, now }: MigrationOptions, sourceId: string): Promise<ClaimedTarget> {
  const state = await readMigrationState(target);
  if (state?.sourceId === sourceId && state.finished) return { finished: true, continued: true };
  if (state !== undefined && state.sourceId !== sourceId) throw otherData();
  const checkNotInUse = async (): Promise<void> => {
    if (force) return;
    await rejectInUse(source, "file");
    await rejectInUse(target, "PostgreSQL database");
  };
  await checkNotInUse();
  if (state !== undefined) return { finished: false, continued: true };
  for (const { inTarget } of COPIED_TABLES) if ((await countRows(target, inTarget)) > 0) throw otherData();
  await beginMigration(target, { sourceId, now });
  // Detects processes that registered before the marker existed; later ones see the marker.
  await checkNotInUse();
  return { finished: false, continued: false };
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

interface Step {
  table: CopiedTable;
  rows: CopiedTable["inSource"];
  write(target: Database, rows: Row[]): Promise<void>;
}

const PARENT = "parent_task_id";

/** A run may precede its parent, so `parent_task_id` is filled in after all runs are copied. */
const STEPS: readonly Step[] = COPIED_TABLES.flatMap((table): Step[] => {
  const { name, inSource: rows } = table;
  if (name === "research_search") return [{ table, rows, write: makeSearchable }];
  if (name !== "research_tasks") return [{ table, rows, write: insertWithout(table, table.without) }];
  const parents = sql<Row>`select * from research_tasks where ${sql.ref(PARENT)} is not null`;
  return [
    { table, rows, write: insertWithout(table, [PARENT, ...table.without]) },
    {
      table,
      rows: parents,
      write: (target, children) =>
        updateColumn(target, name, {
          rows: children.map((row) => omitColumns(row, table.without)),
          key: "task_id",
          column: PARENT,
        }),
    },
  ];
});

function insertWithout({ name }: CopiedTable, without: readonly string[]): Step["write"] {
  return (target, rows) =>
    insertRows(
      target,
      name,
      rows.map((row) => omitColumns(row, without)),
    );
}

async function makeSearchable(target: Database, rows: Row[]): Promise<void> {
  for (const { task_id, query, report } of rows) {
    const texts = { task_id: String(task_id), query: String(query), report: String(report) };
    const number = await insertSearchable(target, target.insertInto("research_search").values(texts));
    await sql`update research_results set search_rowid = ${number} where task_id = ${texts.task_id}`.execute(target);
  }
}

async function copyAll({ source, target, progress, signal }: MigrationOptions): Promise<void> {
  const begin = await readMigrationState(target);
  for (const [number, { table, rows, write }] of STEPS.entries()) {
    if (begin === undefined || number < begin.step) continue;
    const { key, batch, name } = table;
    const total = await countRows(source, rows);
    let done = 0;
    const after = number === begin.step ? begin.after : undefined;
    for await (const page of pages(source, { rows, key, batch, after })) {
      if (signal.aborted) throw interrupted();
      await target.transaction().execute(async (transaction) => {
        await write(transaction, page);
        await saveCursor(transaction, { step: number, after: keyOf(page.at(-1), key) });
      });
      failpoint("after-moved-batch");
      done += page.length;
      progress(`${name}: ${done} rows of ${total}`);
    }
    await saveCursor(target, { step: number + 1, after: undefined });
  }
}

async function truncateTarget(target: Database): Promise<void> {
  const names = COPIED_TABLES.map(({ name }) => sql.table(name));
  await target.transaction().execute(async (transaction) => {
    await sql`truncate table ${sql.join(names)}`.execute(transaction);
    await saveCursor(transaction, { step: 0, after: undefined });
  });
}

/** Advances the sequence past the copied ids. */
async function resetSequence(target: Database): Promise<void> {
  await sql`
    select setval(pg_get_serial_sequence('notification_outbox', 'outbox_id'), greatest(max(outbox_id), 1))
    from notification_outbox`.execute(target);
}

function rejectDifferences(tables: readonly Comparison[]): void {
  const different = differing(tables);
  if (different.length === 0) return;
  throw new AppError({
    code: "SQLITE_ERROR",
    message: `The copied rows differ from the file in: ${different.join(", ")}. Keep using the file.`,
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
    message: "The migration was interrupted. Keep using the file.",
    suggestion: "Run the same command again to continue.",
  });
