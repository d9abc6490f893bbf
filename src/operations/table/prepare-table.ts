/** Prepares the paid request that makes a table of a stored report: what is sent, and what it will cost. */

import { FOLLOWUP_MODEL } from "../../costs/prices.ts";
import type { FollowupEstimate } from "../../costs/estimate.ts";
import { currentOf } from "../../runs/conversation-store.ts";
import { findTable } from "../../runs/table/find-table.ts";
import { aboutTerms, type FollowupTerms, type PreparedFollowup } from "../followup/prepare.ts";
import type { OperationDeps } from "../operation.ts";
import { readTableContext, type TableRequest } from "./table-context.ts";
import { tableTitle } from "./title.ts";
import { wasDiscarded, withoutText } from "../parts/after-failure.ts";
import { costQuestion, dollars } from "../parts/cost-confirmation.ts";

/**
 * The context is always the stored report: only in it the sources have the numbers that the cells must name. Throws
 * unless the run has ended with a report.
 */
export async function prepareTable(deps: OperationDeps, request: TableRequest): Promise<PreparedFollowup> {
  const db = await deps.database();
  const stored = await readTableContext(db, request);
  const run = await currentOf(db, request.owner, request.taskId);
  if (stored === undefined) throw withoutText(run, await wasDiscarded(db, run));
  const { input, notice } = stored;
  const { columns } = request;
  return {
    followup: { context: "stored_report", readStoredReport: async () => stored },
    variant: { model: FOLLOWUP_MODEL, input, columns },
    title: tableTitle(run.query, columns),
    notice,
    estimate: await deps.estimateFollowup(input.length, "table"),
  };
}

/** One sentence with the price; undefined for a table that was made before. Throws where none can be made. */
export async function priceToMake(deps: OperationDeps, request: TableRequest): Promise<string | undefined> {
  if ((await findTable(await deps.database(), request)).table !== undefined) return undefined;
  const { estimate } = await prepareTable(deps, request);
  if (estimate === undefined) return "The cost of this table is unknown.";
  return `This table costs about ${dollars(estimate.usd.likely)} (at most ${dollars(estimate.usd.max)}).`;
}

/** What a table of a run will cost, whatever its columns are. */
export const tableEstimate = async (
  deps: OperationDeps,
  { owner, taskId }: Pick<TableRequest, "owner" | "taskId">,
): Promise<FollowupEstimate | undefined> =>
  (await prepareTable(deps, { owner, taskId, question: "", columns: [] })).estimate;

/** The same, with what the user must confirm. */
export async function tableTerms(
  deps: OperationDeps,
  { owner, taskId }: Pick<TableRequest, "owner" | "taskId">,
): Promise<FollowupTerms> {
  const estimate = await tableEstimate(deps, { owner, taskId });
  const agent = FOLLOWUP_MODEL;
  const paid = { about: aboutTerms(taskId), query: "", agent, followup: estimate ?? null, isTable: true };
  return { likelyUsd: estimate?.usd.likely, question: await costQuestion(deps, { owner }, paid) };
}
