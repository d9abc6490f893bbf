/** Tables in answers and as files: the columns that a caller asks for, the data instead of the report, and what to do where a table was not made yet. */

import { z } from "zod";
import { columnKey, findTable } from "../../runs/table/find-table.ts";
import { AppError } from "../../errors.ts";
import { type Table, tableIn } from "../../reports/table/table.ts";
import { readStored } from "../../runs/history/read.ts";
import { type Run, aboutRun } from "../../runs/run.ts";
import { isTableStart } from "../../runs/start/start-options.ts";
import type { Call, OperationDeps } from "../operation.ts";
import { adviceText } from "./advice.ts";
import { dollars } from "../../costs/dollars.ts";
import { tableFile, type TableFormat } from "../../reports/table/table-files.ts";

/** More make Google refuse the schema as too complex, and no table that a person reads has more. */
const MAX_COLUMNS = 20;
const MAX_NAME_CHARACTERS = 60;

/** Checked by one function: bounds in the schema would be part of the list of tools, and of no use to a model. */
export const columnsField = z
  .array(z.string({ error: "{columns} must be a list of texts." }).trim(), {
    error: "{columns} must be a list of texts.",
  })
  .superRefine((columns, context) => {
    const message = problemWith(columns);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  })
  .optional();

function problemWith(columns: readonly string[]): string | undefined {
  if (columns.length === 0) return "{columns} must not be empty.";
  if (columns.length > MAX_COLUMNS) return `A table has at most ${MAX_COLUMNS} columns.`;
  const fault = columns.map(problemWithName).find((problem) => problem !== undefined);
  if (fault !== undefined) return `The name of a column must ${fault}.`;
  return new Set(columns.map(columnKey)).size === columns.length ? undefined : "Each column must be named once.";
}

function problemWithName(name: string): string | undefined {
  if (name === "") return "not be empty";
  if (name.length > MAX_NAME_CHARACTERS) return `have at most ${MAX_NAME_CHARACTERS} characters`;
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) return "be one line of text";
  return /[\p{L}\p{N}]/u.test(name) ? undefined : "have at least one letter or digit";
}

export const tableFields = {
  table: z
    .looseObject({
      columns: z.array(z.string()),
      rows: z.array(z.array(z.looseObject({ sources: z.array(z.number()) }))),
    })
    .describe("Instead of report. Each cell: value, sources, or a mark: not found, no source."),
};

interface Reading {
  report?: string | undefined;
  complete?: boolean | undefined;
  section?: string | undefined;
}

/** The table of a result instead of its Markdown, where the answer would contain all of it. */
export function asTable<Given extends Reading>(made: Table | undefined, { report, ...rest }: Given) {
  const table = rest.complete === false || rest.section !== undefined ? undefined : made;
  return { ...rest, report: table === undefined ? report : undefined, table };
}

interface Wanted {
  task_id: string;
  columns?: string[] | undefined;
}

/**
 * The run whose result is the table, or else the text that was paid for in its place; undefined if there is neither.
 * Throws while the table is being made.
 */
export async function finishedTable(
  deps: OperationDeps,
  { owner }: Pick<Call, "owner">,
  wanted: Wanted,
): Promise<Run | undefined> {
  const { task_id: taskId, columns } = wanted;
  const found = await findTable(await deps.database(), { owner, taskId, columns });
  const run = found.table ?? found.withoutTable;
  if (run === undefined || run.status === "completed") return run;
  throw new AppError({
    code: "RESEARCH_NOT_COMPLETED",
    message:
      run.status === "start_unknown"
        ? "It is not known whether Google has started to make this table."
        : "This table is being made.",
    next: [{ do: "wait" }],
    run: aboutRun(run),
  });
}

/** Reading is free: the answer states the cost, and the user or the model decides with another tool. */
export async function notMade(deps: OperationDeps, { owner }: Call, { task_id: taskId, columns }: Wanted) {
  const { tableEstimate } = await import("../followup/prepare.ts");
  const estimate = await tableEstimate(deps, { owner, taskId });
  const { run } = await readStored(await deps.database(), owner, taskId);
  const cost = estimate && { likely_usd: estimate.usd.likely, max_usd: estimate.usd.max };
  const price =
    cost === undefined
      ? "Its cost is unknown"
      : `It would cost about ${dollars(cost.likely_usd)} (up to ${dollars(cost.max_usd)})`;
  return {
    run,
    note: `${columns === undefined ? "No table of this run was made yet" : "No table with these columns was made yet"}. ${price}; nothing was charged.`,
    estimated_cost: cost,
    next_step: adviceText({
      suggestion: "Its question says what a row is, such as one row per product.",
      next: [{ do: "table" }],
    }),
  };
}

export const isTableRun = ({ options }: Run): boolean => isTableStart(options);

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

const noTable = (run: Run): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message: "This run has no table, so it can be saved as Markdown only.",
    next: [{ do: "table" }],
    details: { status: 400, field: "format" },
    run: aboutRun(run),
  });
