/** Finds the tables that were made of a report. */

import type { Database } from "../../store/database.ts";
import { followUpsOn } from "../history/followup-store.ts";
import type { Run } from "../run.ts";
import { findRun } from "../run-store.ts";
import { columnsOf } from "../start/start-options.ts";

interface Wanted {
  owner: string;
  /** The run with the report, or the run that made a table of it. */
  taskId: string;
  /** Undefined: any columns. */
  columns?: readonly string[] | undefined;
  /** What a row is; undefined: any rows. */
  question?: string | undefined;
}

/**
 * The newest table, a completed one first; undefined if none was made or asked for. A table whose start is unknown
 * counts, too: it may have been charged.
 */
export async function findTable(db: Database, wanted: Wanted): Promise<Run | undefined> {
  const run = await findRun(db, wanted.owner, wanted.taskId);
  const runs = [run, ...(await followUpsOn(db, wanted.owner, wanted.taskId))].toReversed();
  const tables = runs.filter((each) => isTable(each, wanted) && !ENDED_WITHOUT_TABLE.has(each.status));
  return tables.find(({ status }) => status === "completed") ?? tables[0];
}

const ENDED_WITHOUT_TABLE: ReadonlySet<Run["status"]> = new Set(["failed", "cancelled"]);

function isTable({ options, query }: Run, { columns, question }: Wanted): boolean {
  const made = columnsOf(options);
  if (made === undefined) return false;
  if (columns !== undefined && made.map(columnKey).join("\n") !== columns.map(columnKey).join("\n")) return false;
  return question === undefined || query.trim() === question.trim();
}

/** Two columns with the same key are the same column. */
export const columnKey = (column: string): string =>
  column.normalize("NFKC").trim().replaceAll(/\s+/g, " ").toLowerCase();
