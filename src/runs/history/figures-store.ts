/** SQL for statistics of an owner's runs: counts by state, durations and costs, those of judged citations included. */

import { sql } from "kysely";
import { z } from "zod";
import type { Cost } from "../../costs/actual.ts";
import type { Database } from "../../store/database.ts";
import { costOfRow } from "../cost-columns.ts";
import { FINISHED, RUN_KINDS, RUN_STATUSES, type RunKind, type RunStatus } from "../run.ts";
import { hasImpossibleNumber, storedJson } from "../unreadable.ts";
import { estimateOf, type RunEstimate } from "./run-estimate.ts";

/** The period that figures and charts cover: two years. */
export const FIGURES_PERIOD_MS = 2 * 365 * 24 * 3_600_000;

/** Uses an index-only scan. */
export async function countRuns(db: Database, owner: string): Promise<Partial<Record<RunStatus, number>>> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["status", (select) => select.fn.countAll<number>().as("count")])
    .where("owner", "=", owner)
    .groupBy("status")
    .execute();
  const known = rows.filter(({ status }) => RUN_STATUSES.some((one) => one === status));
  return Object.fromEntries(known.map(({ status, count }) => [status, count]));
}

export interface FinishedFigures {
  taskId: string;
  /** Follow-ups take seconds and cents, so they are counted apart from research. */
  kind: RunKind | "followup";
  query: string;
  status: RunStatus;
  startedAt: number;
  completedAt: number;
  cost: Cost;
  /** Of the model that judged its citations; not part of `cost`, which estimates are compared with. */
  judgeCost: Cost;
  estimate: RunEstimate;
}

/** The newest finished runs, oldest first. */
export async function finishedFigures(
  db: Database,
  owner: string,
  { since, limit }: { since: number; limit: number },
): Promise<FinishedFigures[]> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["task_id", "kind", "query", "status", "started_at", "created_at", "completed_at", "cost_usd"])
    .select(["estimate_json", "cost_incomplete", "cost_estimated", "followup_context"])
    .select(["judge_cost_micros", "judge_unpriced"])
    .where("owner", "=", owner)
    .where("created_at", ">=", since)
    .where("completed_at", "is not", null)
    .where("status", "in", FINISHED)
    .orderBy("created_at", "desc")
    .limit(limit)
    .execute();
  return rows
    .filter((row) => !hasImpossibleNumber(row))
    .filter((row) => [row.created_at, row.started_at ?? 0, row.completed_at ?? 0].every(Number.isFinite))
    .map((row) => ({
      taskId: row.task_id,
      kind: kindOf(row),
      query: row.query,
      status: RUN_STATUSES.find((status) => status === row.status) ?? "failed",
      startedAt: row.started_at ?? row.created_at,
      completedAt: row.completed_at ?? row.created_at,
      cost: costOfRow(row),
      judgeCost: judgeCostOf(row),
      estimate: estimateOf(storedJson(row.estimate_json ?? "{}", z.unknown(), {})),
    }))
    .toSorted((one, other) => one.completedAt - other.completedAt);
}

function kindOf(row: { kind: string; followup_context: string | null }): FinishedFigures["kind"] {
  return row.followup_context === null ? (RUN_KINDS.find((kind) => kind === row.kind) ?? "search") : "followup";
}

const MICROS = 1_000_000;

const judgeCostOf = ({ judge_cost_micros: micros, judge_unpriced: unpriced }: Record<JudgeColumn, number>): Cost => ({
  usd: micros > 0 ? micros / MICROS : undefined,
  incomplete: unpriced > 0,
  estimated: false,
});
type JudgeColumn = "judge_cost_micros" | "judge_unpriced";

/** What judging the citations of one run has cost. */
export async function findJudgeCost(db: Database, taskId: string): Promise<Cost> {
  const row = await db
    .selectFrom("research_tasks")
    .select(["judge_cost_micros", "judge_unpriced"])
    .where("task_id", "=", taskId)
    .executeTakeFirst();
  return judgeCostOf(row ?? { judge_cost_micros: 0, judge_unpriced: 0 });
}

/** A request to a judge is about to be sent: its cost is unknown until `addJudgeCost`. */
export const addJudgeRequest = (db: Database, taskId: string): Promise<unknown> =>
  db
    .updateTable("research_tasks")
    .set({ judge_unpriced: sql<number>`judge_unpriced + 1` })
    .where("task_id", "=", taskId)
    .execute();

/** What one request has cost. */
export const addJudgeCost = (db: Database, taskId: string, usd: number): Promise<unknown> =>
  db
    .updateTable("research_tasks")
    .set({
      judge_unpriced: sql<number>`judge_unpriced - 1`,
      judge_cost_micros: sql<number>`judge_cost_micros + ${Math.round(usd * MICROS)}`,
    })
    .where("task_id", "=", taskId)
    .execute();

/** Runs and what judged their citations, in US dollars. */
const SPENT_USD = sql<number>`coalesce(sum(cost_usd), 0) + coalesce(sum(judge_cost_micros), 0) / 1000000.0`;

/** A completed run without a known cost makes the sum a lower bound (`incomplete`). */
export async function totalCost(db: Database, owner: string): Promise<Cost> {
  const row = await db
    .selectFrom("research_tasks")
    .select([
      SPENT_USD.as("usd"),
      sql<number>`coalesce(max(case when cost_incomplete = 1 or judge_unpriced > 0 or (status = 'completed' and cost_usd is null) then 1 else 0 end), 0)`.as(
        "incomplete",
      ),
      sql<number>`coalesce(max(cost_estimated), 0)`.as("estimated"),
    ])
    .where("owner", "=", owner)
    .executeTakeFirst();
  return { usd: row?.usd ?? 0, incomplete: row?.incomplete === 1, estimated: row?.estimated === 1 };
}

export interface OwnerUsage {
  owner: string;
  runs: number;
  usd: number;
}

/** Usage of all owners, the highest cost first. */
export async function usageByOwner(
  db: Database,
  { since, limit }: { since: number; limit: number },
): Promise<OwnerUsage[]> {
  return db
    .selectFrom("research_tasks")
    .select(["owner", (select) => select.fn.countAll<number>().as("runs")])
    .select(SPENT_USD.as("usd"))
    .where("created_at", ">=", since)
    .groupBy("owner")
    .orderBy("usd", "desc")
    .orderBy("owner")
    .limit(limit)
    .execute();
}
