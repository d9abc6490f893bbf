/** Finds the tables that were made of a report. */

import type { Database } from "../../store/database.ts";
import { tableIn } from "../../reports/table/table.ts";
import { tableRunsOn } from "../run-store.ts";
import { findResult } from "../result-store.ts";
import type { Run } from "../run.ts";
import { currentOf } from "../conversation-store.ts";
import { comparedText } from "../start/duplicate-start-store.ts";
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

interface Found {
  /**
   * The newest table, a completed one first; undefined if none was made or asked for. A table whose start is unknown
   * counts, too: it may have been charged.
   */
  table: Run | undefined;
  /** The newest run that was to make the table and completed with a text that is none. The table may be made again. */
  withoutTable: Run | undefined;
}

export async function findTable(db: Database, wanted: Wanted): Promise<Found> {
  const run = await currentOf(db, wanted.owner, wanted.taskId);
  const runs = [...(await tableRunsOn(db, wanted.owner, run.taskId)), run];
  const tables = runs.filter((each) => isTable(each, wanted) && !ENDED_WITHOUT_TABLE.has(each.status));
  const completed = tables.filter(({ status }) => status === "completed");
  const [withoutTable] = completed;
  for (const table of completed) {
    if (await hasTable(db, table)) return { table, withoutTable: table === withoutTable ? undefined : withoutTable };
  }
  return { table: tables.find(({ status }) => status !== "completed"), withoutTable };
}

async function hasTable(db: Database, { taskId }: Run): Promise<boolean> {
  const result = await findResult(db, taskId);
  return result !== undefined && tableIn(result.metadata) !== undefined;
}

const ENDED_WITHOUT_TABLE: ReadonlySet<Run["status"]> = new Set(["failed", "cancelled"]);

function isTable({ options, query }: Run, { columns, question }: Wanted): boolean {
  const made = columnsOf(options);
  if (made === undefined) return false;
  if (columns !== undefined && made.map(columnKey).join("\n") !== columns.map(columnKey).join("\n")) return false;
  return question === undefined || comparedText(query) === comparedText(question);
}

/** Two columns with the same key are the same column. */
export const columnKey = (column: string): string =>
  column.normalize("NFKC").trim().replaceAll(/\s+/g, " ").toLowerCase();
