/** `/api/figures`: cost, duration and estimates of finished runs, for the charts. */

import type { Hono } from "hono";
import type { App } from "../../app.ts";
import { costFields } from "../../costs/actual.ts";
import { isoTime } from "../../platform/clock.ts";
import {
  countRuns,
  FIGURES_PERIOD_MS,
  type FinishedFigures,
  finishedFigures,
  totalCost,
  usageByOwner,
} from "../../runs/history/figures-store.ts";
import { omitUndefined } from "./summary.ts";
import { jsonResponse } from "./json-response.ts";
import { type CallerEnv, LOCAL_OWNER } from "../../caller.ts";
import type { Figures, FinishedRun } from "../wire-figures.ts";

const THIRTY_DAYS_MS = 30 * 24 * 3_600_000;
const MAX_RUNS = 5_000;
const MAX_USERS = 100;
/** The query is only a label here; five thousand whole ones would be megabytes. */
const MAX_QUERY_CHARACTERS = 200;

export function serveFigures(web: Hono<CallerEnv>, { deps }: App): void {
  web.get("/api/figures", async (context) => {
    const { owner } = context.get("caller");
    const db = await deps.database();
    const runs = await finishedFigures(db, owner, { since: deps.clock.now() - FIGURES_PERIOD_MS, limit: MAX_RUNS });
    const counts = await countRuns(db, owner);
    const total = await totalCost(db, owner);
    const { cost_incomplete, cost_estimated } = costFields(total);
    const users = owner === LOCAL_OWNER ? await usageByUser(deps) : [];
    const figures: Figures = {
      runs: runs.map(figureOf),
      total_cost_usd: roundedUsd(total.usd ?? 0),
      ...omitUndefined({ cost_incomplete, cost_estimated }),
      total_runs: Object.values(counts).reduce((sum, count) => sum + count, 0),
      // A server with one user has nothing to compare.
      ...(users.length > 1 ? { users } : {}),
    };
    return jsonResponse(figures);
  });
}

async function usageByUser({ clock, database }: App["deps"]): Promise<NonNullable<Figures["users"]>> {
  const usage = await usageByOwner(await database(), { since: clock.now() - THIRTY_DAYS_MS, limit: MAX_USERS });
  return usage.map(({ owner, runs, usd }) => ({ name: owner, runs, cost_usd: roundedUsd(usd) }));
}

const roundedUsd = (usd: number): number => Math.round(usd * 1e6) / 1e6;

function figureOf({ taskId, kind, query, status, ...run }: FinishedFigures): FinishedRun {
  const { usd, minutes } = run.estimate;
  const { min, likely, max } = usd ?? {};
  const estimated = min === undefined || likely === undefined || max === undefined ? undefined : { min, likely, max };
  return {
    task_id: taskId,
    kind,
    query: query.slice(0, MAX_QUERY_CHARACTERS),
    status,
    completed_at: isoTime(run.completedAt),
    duration_minutes: Math.max(0, Math.round((run.completedAt - run.startedAt) / 600) / 100),
    ...omitUndefined(costFields({ ...run.cost, incomplete: run.cost.incomplete || run.judgeCost.incomplete })),
    ...omitUndefined({ judge_cost_usd: run.judgeCost.usd }),
    ...omitUndefined({ estimated_usd: estimated, estimated_minutes: minutes?.likely }),
  };
}
