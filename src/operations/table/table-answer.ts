/** Tables in answers: the data instead of the report, and what to do where a table was not made yet. */

import { z } from "zod";
import { AppError } from "../../errors.ts";
import { type Table, tableText } from "../../reports/table/table.ts";
import { readStored } from "../../runs/history/read.ts";
import type { Run } from "../../runs/run.ts";
import { isTableStart } from "../../runs/start/start-options.ts";
import { findTable } from "../../runs/table/find-table.ts";
import type { Call, OperationDeps } from "../operation.ts";
import { adviceText } from "../parts/advice.ts";
import { dollars } from "../parts/cost-confirmation.ts";

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
export function asTable<Given extends Reading>(
  made: Table | undefined,
  reading: Given,
): Omit<Given, "report"> & { report?: string; table?: Table } {
  const { report, ...rest } = reading;
  const table = reading.complete === false || reading.section !== undefined ? undefined : made;
  if (table !== undefined) return { ...rest, table };
  return { ...rest, ...(report === undefined ? {} : { report }) };
}

/** The table as text, for a client that shows text only. */
export const textOfTable = ({ table, report }: { table?: Table | undefined; report?: string | undefined }) =>
  table === undefined ? report?.trim() : tableText(table);

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
    run: { task_id: run.taskId, status: run.status, progress: run.progress },
  });
}

/** Reading is free: the answer states the cost, and the user or the model decides with another tool. */
export async function notMade(deps: OperationDeps, { owner }: Call, { task_id: taskId, columns }: Wanted) {
  const { tableEstimate } = await import("./prepare-table.ts");
  const estimate = await tableEstimate(deps, { owner, taskId });
  const { run } = await readStored(await deps.database(), owner, taskId);
  const cost = estimate && { likely_usd: estimate.usd.likely, max_usd: estimate.usd.max };
  const price =
    cost === undefined
      ? "Its cost is unknown"
      : `It would cost about ${dollars(cost.likely_usd)} (at most ${dollars(cost.max_usd)})`;
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
