/** Usage of an owner as the page and the terminal show it, and its SQL: counts, durations and costs, judged citations included. */

import { sql } from "kysely";
import { addCosts, type Cost, NO_COST, roundUsd } from "../../costs/actual.ts";
import type { Database } from "../../store/database.ts";
import { countByStatus } from "../library/count-store.ts";
import { JUDGE_COST, RUN_COST } from "../ledger/ledger-store.ts";
import { FINISHED, isFinished, RUN_KINDS, type RunKind } from "../run.ts";

/** Follow-ups take seconds and cents, so they are counted apart from research. */
type UsageKind = RunKind | "followup";

interface DailyUsage extends Cost {
  usd: number;
  /** Days since 1970, UTC. */
  day: number;
  kind: UsageKind;
  runs: number;
  /** Of the models that judged citations; part of `usd`. */
  judgeUsd: number;
  completedRuns: number;
  /** Of the completed runs only, because a failed or cancelled run took less time than its question needs. */
  completedMs: number;
}

const DAY_MS = 86_400_000;
const KIND = sql<string>`case when followup_context is null then kind else 'followup' end`;
/** A plan and a run that led to nothing are counted with the run that takes their place; their costs are their own. */
const COUNTED = sql<number>`case when gave_way = 1 or (part = 'plan' and status = 'completed') then 0 else 1 end`;
const isCompleted = sql`status = 'completed' and part <> 'plan'`;

/** Finished runs of an owner by UTC day and kind. */
async function dailyUsage(
  db: Database,
  owner: string,
  { from, until }: { from: number; until: number },
): Promise<DailyUsage[]> {
  const rows = await db
    .selectFrom("research_tasks")
    // Division of integers is a whole number in both databases.
    .select([sql<number>`completed_at / ${sql.lit(DAY_MS)}`.as("day"), KIND.as("usage_kind")])
    .select([sql<number>`sum(${COUNTED})`.as("runs"), ...costSums])
    .select(sql<number>`sum(${JUDGE_MICROS}) / 1000000.0`.as("judge_usd"))
    .select(sql<number>`sum(case when ${isCompleted} then 1 else 0 end)`.as("completed_runs"))
    .select(
      sql<number>`sum(case when ${isCompleted} then completed_at - coalesce(started_at, created_at) else 0 end)`.as(
        "completed_ms",
      ),
    )
    .where("owner", "=", owner)
    .where("completed_at", ">=", from)
    .where("completed_at", "<=", until)
    .where("status", "in", FINISHED)
    .groupBy(["day", "usage_kind"])
    .execute();
  return rows.map((row) => ({
    day: row.day,
    kind: row.usage_kind === "followup" ? "followup" : (RUN_KINDS.find((kind) => kind === row.usage_kind) ?? "search"),
    runs: row.runs,
    ...costOfSums(row),
    judgeUsd: row.judge_usd,
    completedRuns: row.completed_runs,
    completedMs: row.completed_ms,
  }));
}

/** What judging the citations of one run has cost. */
export async function findJudgeCost(db: Database, taskId: string): Promise<Cost> {
  const run = db.selectFrom("research_tasks").select(JUDGE_COST).where("task_id", "=", taskId);
  const { judge_micros: micros = 0, judge_unpriced: unpriced = 0 } = (await run.executeTakeFirst()) ?? {};
  return { usd: micros > 0 ? micros / 1_000_000 : undefined, incomplete: unpriced > 0, estimated: false };
}

const [RUN_MICROS, RUN_INCOMPLETE, RUN_ESTIMATED] = RUN_COST.map(({ expression }) => expression);
const [JUDGE_MICROS, JUDGE_UNPRICED] = JUDGE_COST.map(({ expression }) => expression);

/** Runs and what judged their citations, in US dollars. */
const SPENT_USD = sql<number>`coalesce(sum(coalesce(${RUN_MICROS}, 0) + ${JUDGE_MICROS}), 0) / 1000000.0`;

/** A completed run without a known cost makes the sum a lower bound (`incomplete`). */
const costSums = [
  SPENT_USD.as("usd"),
  sql<number>`coalesce(max(case when ${RUN_INCOMPLETE} = 1 or ${JUDGE_UNPRICED} > 0 or (status = 'completed' and ${RUN_MICROS} is null) then 1 else 0 end), 0)`.as(
    "incomplete",
  ),
  sql<number>`coalesce(max(${RUN_ESTIMATED}), 0)`.as("estimated"),
] as const;

const costOfSums = (row: { usd: number; incomplete: number; estimated: number }): Cost & { usd: number } => ({
  usd: row.usd,
  incomplete: row.incomplete === 1,
  estimated: row.estimated === 1,
});

export async function totalCost(db: Database, owner: string): Promise<Cost & { usd: number }> {
  const row = await db
    .selectFrom("research_tasks")
    .select(costSums)
    .where("owner", "=", owner)
    .executeTakeFirstOrThrow();
  return costOfSums(row);
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
    .select(["owner", sql<number>`sum(${COUNTED})`.as("runs")])
    .select(SPENT_USD.as("usd"))
    .where("created_at", ">=", since)
    .groupBy("owner")
    .orderBy("usd", "desc")
    .orderBy("owner")
    .limit(limit)
    .execute();
}

/** Two years. */
const PERIOD_DAYS = 730;
const SHOWN_DAYS = 30;

export type Usage = Awaited<ReturnType<typeof readUsage>>;
export type UsageSum = ReturnType<typeof sumOf>;

const KINDS: UsageKind[] = ["agent", "followup", "deep_research", "deep_search", "search"];

/** Days and months are those of UTC, so that every surface shows the same sums. */
export async function readUsage(db: Database, owner: string, now: number) {
  const counts = await countByStatus(db, owner);
  const total = await totalCost(db, owner);
  const rows = await dailyUsage(db, owner, { from: now - PERIOD_DAYS * DAY_MS, until: now });
  const judgeUsd = rows.reduce((sum, row) => sum + row.judgeUsd, 0);
  const today = Math.floor(now / DAY_MS);
  const byDay = Map.groupBy(rows, ({ day }) => day);
  const byMonth = Map.groupBy(rows, ({ day }) => dateOf(day).slice(0, 7));
  const byKind = Map.groupBy(rows, ({ kind }) => kind);
  return {
    total_runs: counts.reduce((sum, { count }) => sum + count, 0),
    unfinished_runs: counts.reduce((sum, { status, count }) => (isFinished(status) ? sum : sum + count), 0),
    total_cost_usd: roundUsd(total.usd),
    ...marksOf(total),
    ...(judgeUsd > 0 ? { judge_cost_usd: roundUsd(judgeUsd) } : {}),
    days: Array.from({ length: SHOWN_DAYS }, (_, index) => today - SHOWN_DAYS + 1 + index).map((day) => ({
      day: dateOf(day),
      ...sumOf(byDay.get(day) ?? []),
    })),
    months: [...byMonth]
      .toSorted(([one], [other]) => other.localeCompare(one))
      .map(([month, ofMonth]) => ({ month, ...sumOf(ofMonth) })),
    kinds: KINDS.flatMap((kind) => {
      const ofKind = byKind.get(kind);
      return ofKind === undefined ? [] : { kind, ...sumOf(ofKind) };
    }),
  };
}

const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

const marksOf = ({ incomplete, estimated }: Cost) => ({
  ...(incomplete ? { cost_incomplete: true as const } : {}),
  ...(estimated ? { cost_estimated: true as const } : {}),
});

function sumOf(rows: DailyUsage[]) {
  const cost = rows.reduce<Cost>(addCosts, NO_COST);
  const completed = rows.reduce((sum, { completedRuns }) => sum + completedRuns, 0);
  const ms = rows.reduce((sum, { completedMs }) => sum + completedMs, 0);
  return {
    runs: rows.reduce((sum, { runs }) => sum + runs, 0),
    cost_usd: roundUsd(cost.usd ?? 0),
    ...marksOf(cost),
    ...(completed === 0 ? {} : { average_minutes: Math.round(ms / completed / 600) / 100 }),
  };
}
