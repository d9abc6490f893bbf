/** Moves a store from its file to PostgreSQL: restartable at any row, compared at the end, never two stores for one. */

import { sql } from "kysely";
import { AppError } from "../../errors.ts";
import { failpoint } from "../../platform/failpoint.ts";
import type { Database } from "../database.ts";
import { insertSearchable } from "../dialect.ts";
import {
  beginMove,
  finishMove,
  saveCursor,
  markMoved,
  moveInto,
  nameSource,
  sourceName,
  tableExists,
} from "./progress.ts";
import { completeRows, countRows, insertRows, keyOf, lacking, pages, sumOf } from "./rows.ts";
import { MOVED_TABLES, type MovedTable, type Row } from "./tables.ts";
import { processesLeft } from "../processes.ts";

export interface Move {
  source: Database;
  target: Database;
}

export interface MoveOptions extends Move {
  /** How the source is told where its runs have gone; without user and password. */
  place: string;
  /** Although processes seem to use one of the two. */
  force: boolean;
  now: number;
  signal: AbortSignal;
  progress(message: string): void;
}

export interface Comparison {
  table: string;
  source: number;
  target: number;
  /** Undefined where rows were counted and not read. */
  same: boolean | undefined;
}

export interface Moved {
  /** An earlier move had come to its end: nothing was written but the mark in the source. */
  before: boolean;
  tables: Comparison[];
}

/** From its first row to its last the source is locked: nobody can change what was read already. */
export async function moveStore(options: MoveOptions): Promise<Moved> {
  const { source, target, now, place, progress } = options;
  const sourceId = await nameSource(source);
  return source.transaction().execute(async (frozen) => {
    const begun = await takeTarget({ ...options, source: frozen }, sourceId);
    const move = { ...options, source: frozen };
    if (!begun.finished) await copyAll(move);
    let tables = await compareStores(move, progress);
    if (!begun.finished && differing(tables).length > 0 && begun.continued) {
      progress("The file was changed since the move began: it begins anew");
      await empty(target);
      await copyAll(move);
      tables = await compareStores(move, progress);
    }
    if (!begun.finished) {
      refuseDifferent(tables);
      await countOn(target);
      failpoint("before-move-finished");
      await finishMove(target, now);
    }
    failpoint("before-source-marked");
    await markMoved(frozen, { place, now });
    return { before: begun.finished, tables };
  });
}

/** Row by row, in any order; changes nothing. */
export async function compareStores(
  { source, target }: Move,
  progress: (message: string) => void,
): Promise<Comparison[]> {
  const tables: Comparison[] = [];
  for (const table of MOVED_TABLES) {
    progress(`Comparing ${table.name}`);
    const [here, there] = [await sumOf(source, table, table.inSource), await sumOf(target, table, table.inTarget)];
    tables.push({ table: table.name, source: here.count, target: there.count, same: here.sum === there.sum });
  }
  return tables;
}

/** What a move would do; also where one of the two has no tables yet. */
export async function countStores({ source, target }: Move): Promise<Comparison[]> {
  const tables: Comparison[] = [];
  for (const { name, inSource, inTarget } of MOVED_TABLES) {
    const here = (await tableExists(source, name)) ? await countRows(source, inSource) : 0;
    const there = (await tableExists(target, name)) ? await countRows(target, inTarget) : 0;
    tables.push({ table: name, source: here, target: there, same: undefined });
  }
  return tables;
}

/** Whether a move of this source into this target would be begun, gone on with, or refused. */
export async function refuseOtherTarget({ source, target }: Move): Promise<void> {
  const state = await moveInto(target);
  if (state !== undefined && state.sourceId !== (await sourceName(source))) throw otherData();
  if (state === undefined && (await countStores({ source, target })).some(({ target: rows }) => rows > 0)) {
    throw otherData();
  }
}

export const differing = (tables: readonly Comparison[]): string[] =>
  tables.filter(({ same }) => same === false).map(({ table }) => table);

interface Begun {
  finished: boolean;
  continued: boolean;
}

async function takeTarget({ source, target, force, now }: MoveOptions, sourceId: string): Promise<Begun> {
  const state = await moveInto(target);
  if (state?.sourceId === sourceId && state.finished) return { finished: true, continued: true };
  if (state !== undefined && state.sourceId !== sourceId) throw otherData();
  const refuseUsed = async (): Promise<void> => {
    if (force) return;
    await refuseInUse(source, "file");
    await refuseInUse(target, "PostgreSQL database");
  };
  await refuseUsed();
  if (state !== undefined) return { finished: false, continued: true };
  for (const { inTarget } of MOVED_TABLES) if ((await countRows(target, inTarget)) > 0) throw otherData();
  await beginMove(target, { sourceId, now });
  // Who came in before the mark was there is seen now; who comes later sees the mark.
  await refuseUsed();
  return { finished: false, continued: false };
}

async function refuseInUse(db: Database, what: string): Promise<void> {
  const left = await processesLeft(db);
  if (left.length === 0) return;
  const named = left.slice(0, 5).map(({ pid }) => pid);
  throw new AppError({
    code: "SQLITE_ERROR",
    message: `Other processes use the ${what} (${named.join(", ")}), and one of them may be about to start a paid run.`,
    suggestion: "Close the clients and stop the servers and workers that use it; --force if they are surely gone.",
  });
}

interface Step {
  table: MovedTable;
  rows: MovedTable["inSource"];
  write(target: Database, rows: Row[]): Promise<void>;
}

const PARENT = "parent_task_id";

/** A run may come before the one it continues: which one that is, is said when all are there. */
const STEPS: readonly Step[] = MOVED_TABLES.flatMap((table): Step[] => {
  const { name, inSource: rows } = table;
  if (name === "research_search") return [{ table, rows, write: makeSearchable }];
  if (name !== "research_tasks") return [{ table, rows, write: inserting(table, table.without) }];
  const parents = sql<Row>`select * from research_tasks where ${sql.ref(PARENT)} is not null`;
  return [
    { table, rows, write: inserting(table, [PARENT, ...table.without]) },
    {
      table,
      rows: parents,
      write: (target, children) =>
        completeRows(target, name, {
          rows: children.map((row) => lacking(row, table.without)),
          key: "task_id",
          column: PARENT,
        }),
    },
  ];
});

function inserting({ name }: MovedTable, without: readonly string[]): Step["write"] {
  return (target, rows) =>
    insertRows(
      target,
      name,
      rows.map((row) => lacking(row, without)),
    );
}

async function makeSearchable(target: Database, rows: Row[]): Promise<void> {
  for (const { task_id, query, report } of rows) {
    const texts = { task_id: String(task_id), query: String(query), report: String(report) };
    const number = await insertSearchable(target, target.insertInto("research_search").values(texts));
    await sql`update research_results set search_rowid = ${number} where task_id = ${texts.task_id}`.execute(target);
  }
}

async function copyAll({ source, target, progress, signal }: MoveOptions): Promise<void> {
  const begin = await moveInto(target);
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

async function empty(target: Database): Promise<void> {
  const names = MOVED_TABLES.map(({ name }) => sql.table(name));
  await target.transaction().execute(async (transaction) => {
    await sql`truncate table ${sql.join(names)}`.execute(transaction);
    await saveCursor(transaction, { step: 0, after: undefined });
  });
}

/** The rows brought their numbers along; the next one must not come again. */
async function countOn(target: Database): Promise<void> {
  await sql`
    select setval(pg_get_serial_sequence('notification_outbox', 'outbox_id'), greatest(max(outbox_id), 1))
    from notification_outbox`.execute(target);
}

function refuseDifferent(tables: readonly Comparison[]): void {
  const different = differing(tables);
  if (different.length === 0) return;
  throw new AppError({
    code: "SQLITE_ERROR",
    message: `What arrived is not what was sent: ${different.join(", ")}. The file is still the one to use.`,
    suggestion: "Somebody else writes to the PostgreSQL database. Give the move an empty one of its own.",
  });
}

const otherData = (): AppError =>
  new AppError({
    code: "SQLITE_ERROR",
    message: "The PostgreSQL database holds runs that did not come from this file. Nothing was changed.",
    suggestion: "Give the move an empty database: create database research encoding 'UTF8'.",
  });

const interrupted = (): AppError =>
  new AppError({
    code: "INTERRUPTED",
    message: "The move was interrupted. The file is still the one to use.",
    suggestion: "Run the same command again: it goes on where it was.",
  });
