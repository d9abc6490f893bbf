/** `/api/figures`: cost and number of finished runs. */

import type { Hono } from "hono";
import type { App } from "../../app.ts";
import { type CallerEnv, LOCAL_OWNER } from "../../caller.ts";
import { roundUsd } from "../../costs/actual.ts";
import { readUsage, usageByOwner } from "../../runs/history/figures-store.ts";
import type { Figures } from "../wire.ts";
import { jsonResponse } from "./json-response.ts";

const THIRTY_DAYS_MS = 30 * 24 * 3_600_000;
const MAX_USERS = 100;

export function serveFigures(web: Hono<CallerEnv>, { deps }: App): void {
  web.get("/api/figures", async (context) => {
    const { owner } = context.get("caller");
    const usage = await readUsage(await deps.database(), owner, deps.clock.now());
    const users = owner === LOCAL_OWNER ? await usageByUser(deps) : [];
    // A server with one user has nothing to compare.
    const figures: Figures = { ...usage, ...(users.length > 1 ? { users } : {}) };
    return jsonResponse(figures);
  });
}

async function usageByUser({ clock, database }: App["deps"]): Promise<NonNullable<Figures["users"]>> {
  const usage = await usageByOwner(await database(), { since: clock.now() - THIRTY_DAYS_MS, limit: MAX_USERS });
  return usage.map(({ owner, runs, usd }) => ({ name: owner, runs, cost_usd: roundUsd(usd) }));
}
