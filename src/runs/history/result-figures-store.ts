/** SQL that copies a finished run's tokens, cost and duration into the metadata of its result. */

import type { Selectable } from "kysely";
import { type Cost, costFields } from "../../costs/actual.ts";
import type { Database, Tables } from "../../store/database.ts";
import { costOfRow } from "../cost-columns.ts";
import { anyRecord, storedJson } from "../stored-json.ts";

/** The columns of a run that `recordFigures` needs. */
export const FIGURE_COLUMNS = [
  "created_at",
  "started_at",
  "completed_at",
  "tokens_input",
  "tokens_output",
  "cost_usd",
  "cost_incomplete",
  "cost_estimated",
] as const satisfies (keyof Tables["research_tasks"])[];

type FinishedRow = Pick<Selectable<Tables["research_tasks"]>, (typeof FIGURE_COLUMNS)[number]>;

/** Stored with the report as well, so that copies of it include these figures (P6). */
export async function recordFigures(db: Database, taskId: string, row: FinishedRow): Promise<void> {
  const stored = await db
    .selectFrom("research_results")
    .select("metadata_json")
    .where("task_id", "=", taskId)
    .executeTakeFirst();
  if (stored === undefined) return;
  const metadata = { ...storedJson(stored.metadata_json, anyRecord), ...figuresOf(row) };
  await db
    .updateTable("research_results")
    .set({ metadata_json: JSON.stringify(metadata) })
    .where("task_id", "=", taskId)
    .execute();
}

function figuresOf(row: FinishedRow): Record<string, unknown> {
  const ended = row.completed_at ?? row.created_at;
  const cost: Cost = costOfRow(row);
  return {
    duration_ms: ended - (row.started_at ?? row.created_at),
    tokens_used: { input: row.tokens_input, output: row.tokens_output },
    ...costFields(cost),
  };
}
