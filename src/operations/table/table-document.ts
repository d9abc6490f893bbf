/** The table of a run as a file: CSV for spreadsheets, JSON for programs. */

import { AppError } from "../../errors.ts";
import { tableFile, type TableFormat } from "../../reports/table/table-files.ts";
import { tableIn } from "../../reports/table/table.ts";
import { readStored } from "../../runs/history/read.ts";
import type { Run } from "../../runs/run.ts";
import type { Call, OperationDeps } from "../operation.ts";
import { finishedTable } from "./table-answer.ts";

interface TableDocument {
  task_id: string;
  format: TableFormat;
}

/** Of the run that made the table, or the newest table of a report. */
export async function tableDocument(
  deps: OperationDeps,
  call: Pick<Call, "owner">,
  { task_id, format }: TableDocument,
) {
  const made = await finishedTable(deps, call, { task_id });
  if (made === undefined) throw noTable(await deps.findRun(call.owner, task_id));
  const { run, result } = await readStored(await deps.database(), call.owner, made.taskId);
  const table = result && tableIn(result.metadata);
  if (result === undefined || table === undefined) throw noTable(run);
  return { run, result, text: tableFile(format, { query: run.query, table, sources: result.sources }) };
}

const noTable = ({ taskId, status, progress }: Run): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message: "This run has no table, so it can be saved as Markdown only.",
    next: [{ do: "table" }],
    details: { status: 400, field: "format" },
    run: { task_id: taskId, status, progress },
  });
