/** Reads what the model that makes a table is given: the stored report and the task. */

import { readStored } from "../../runs/history/read.ts";
import { isFinished } from "../../runs/run.ts";
import type { StoredReportContext } from "../../runs/start/fallback.ts";
import type { Database } from "../../store/database.ts";
import { tableContextOf } from "../followup/context.ts";

export interface TableRequest {
  owner: string;
  taskId: string;
  /** What a row of the table is. */
  question: string;
  columns: string[];
}

/** Undefined if the run has not ended with a report. */
export async function readTableContext(db: Database, request: TableRequest): Promise<StoredReportContext | undefined> {
  const { run, result } = await readStored(db, request.owner, request.taskId);
  if (!isFinished(run.status) || result === undefined) return undefined;
  return tableContextOf({ question: run.query, result }, request);
}
