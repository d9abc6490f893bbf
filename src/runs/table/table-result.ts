/** Turns the answer of a run that makes a table into its result: a Markdown table, with the cells as data. */

import { AppError } from "../../errors.ts";
import { unexpectedError } from "../../platform/unexpected-error.ts";
import { readTable } from "../../reports/table/read-table.ts";
import { countMarks, storedTableMarkdown, type Table } from "../../reports/table/table.ts";
import type { Source } from "../../reports/report.ts";
import type { Database } from "../../store/database.ts";
import { findResult } from "../result-store.ts";
import type { NewResult, Run } from "../run.ts";
import { columnsOf } from "../start/start-options.ts";
import type { ResearchDeps } from "../deps.ts";

/** The result itself for any other run. */
export async function withTable(
  { db, log }: Pick<ResearchDeps, "db" | "log">,
  run: Pick<Run, "taskId" | "options" | "parentTaskId">,
  result: NewResult,
): Promise<NewResult> {
  try {
    const request = await tableRequest(db, run);
    return request === undefined ? result : tableResult(result, request);
  } catch (error) {
    // An error of the database: the next poll ends the run.
    if (error instanceof AppError) throw error;
    // A bug in reading the answer must not keep its paid run from ending.
    log.forRun(run.taskId).error(unexpectedError(error).message);
    return malformed(result);
  }
}

interface TableRequest {
  columns: string[];
  /** Of the report that the table is made from; empty if it was deleted since. */
  sources: readonly Source[];
}

async function tableRequest(
  db: Database,
  { options, parentTaskId }: Pick<Run, "options" | "parentTaskId">,
): Promise<TableRequest | undefined> {
  const columns = columnsOf(options);
  if (columns === undefined) return undefined;
  const report = parentTaskId === undefined ? undefined : await findResult(db, parentTaskId);
  return { columns, sources: report?.sources ?? [] };
}

const MALFORMED = "Google's answer could not be read as a table. Its text was paid for and is kept as it is.";
const CUT = "Google's answer ends early: rows after the last complete one are missing.";
const NO_ROWS = "The report contains nothing for the rows of this table.";

function tableResult(result: NewResult, { columns, sources }: TableRequest): NewResult {
  const read = readTable(result.report, { columns, known: new Set(sources.map(({ n }) => n)) });
  if (read === undefined) return malformed(result);
  const { table, cut } = read;
  const cited = new Set(table.rows.flatMap((row) => row.flatMap((cell) => cell.sources)));
  const notes = [cut ? CUT : undefined, table.rows.length === 0 ? NO_ROWS : undefined, ...marksNote(table)];
  return {
    ...result,
    ...storedTableMarkdown(table),
    sources: sources.filter(({ n }) => cited.has(n)),
    metadata: { ...noted(result, ...notes), table },
  };
}

const malformed = (result: NewResult): NewResult => ({ ...result, metadata: noted(result, MALFORMED) });

/** The metadata with these notes after the one that it has. */
function noted({ metadata }: NewResult, ...notes: (string | undefined)[]): NewResult["metadata"] {
  const all = [metadata["note"], ...notes].filter((each) => typeof each === "string");
  return all.length === 0 ? metadata : { ...metadata, note: all.join(" ") };
}

function marksNote(table: Table): string[] {
  const { notFound, withoutSource, unknownSources } = countMarks(table);
  const cells = (count: number): string => (count === 1 ? "1 cell" : `${count} cells`);
  const remarks = [
    ...(notFound === 0 ? [] : [`${cells(notFound)} not found in the report`]),
    ...(withoutSource === 0 ? [] : [`${cells(withoutSource)} without a source`]),
    ...(unknownSources === 0 ? [] : [`${cells(unknownSources)} with a source number that does not exist`]),
  ];
  return remarks.length === 0 ? [] : [`${remarks.join(", ")}.`];
}
