/** Routes that read: the list, a run, its timeline, conversation and plan, the figures; and a run's name, star and archive mark. */

import type { Context, Hono } from "hono";
import { z } from "zod";
import type { App } from "../../app.ts";
import { libraryInput } from "../../operations/list-research.ts";
import { organizeRun } from "../../operations/organize-run.ts";
import { parseInput, perform, questionFor } from "../../operations/perform.ts";
import { jsonResponse, outcomeResponse, readJsonBody } from "./json.ts";
import { headOf } from "../../operations/view/head-view.ts";
import { readLive } from "../../operations/view/read-view.ts";
import type { CallerEnv } from "../../caller.ts";
import type { Run } from "../../runs/run.ts";
import { consentQuestion } from "../consent.ts";
import { conversationOf, listPage, newestPlanOf, timelineOf } from "./run-pages.ts";
import { resumeResearch } from "../../operations/resume-research.ts";
import { budgetsNow } from "../../operations/parts/cost-confirmation.ts";
import { costsCsv, costsInput, readCosts } from "../../operations/costs-view.ts";
import { taskIdField } from "../../operations/operation.ts";

export function serveRuns(web: Hono<CallerEnv>, { deps, shutdown }: App): void {
  web.get("/api/runs", async (context) => {
    const request = parseInput(libraryInput, listParameters(new URL(context.req.url).searchParams));
    return jsonResponse(await listPage(deps, context.get("caller").owner, request));
  });
  web.get("/api/runs/:id", async (context) => {
    const run = await requestedRun(deps, context);
    // Under the id that the page knows, which may stand for a later run.
    return jsonResponse({ ...(await readLive(deps, run)), task_id: context.req.param("id") });
  });
  web.get("/api/runs/:id/timeline", async (context) => {
    return jsonResponse(await timelineOf(deps, await requestedRun(deps, context)));
  });
  web.post("/api/runs/:id/organize", async (context) => {
    const input = { ...(await readJsonBody(context.req.raw)), task_id: context.req.param("id") };
    const call = { ...context.get("caller"), client: "page", signal: deps.leaving, progress: () => {} };
    const outcome = await shutdown.during(perform(organizeRun, deps, { input, call }));
    if (outcome.failed) return outcomeResponse(outcome);
    return jsonResponse(headOf(await requestedRun(deps, context), deps.clock.now()));
  });
}

/** Without empty fields of a form, and with the limit as a number and flags as booleans. */
function listParameters(parameters: URLSearchParams): Record<string, unknown> {
  const given = Object.fromEntries([...parameters].filter(([, value]) => value !== ""));
  const flags = ["starred", "archived"]
    .filter((name) => given[name] === "true" || given[name] === "false")
    .map((name) => [name, given[name] === "true"]);
  return {
    ...given,
    ...Object.fromEntries(flags),
    ...(given["limit"] === undefined ? {} : { limit: Number(given["limit"]) }),
  };
}

export function serveConversations(web: Hono<CallerEnv>, { deps }: App): void {
  web.get("/api/runs/:id/conversation", async (context) => {
    const run = await requestedRun(deps, context);
    return jsonResponse(await conversationOf(deps, run, context.req.param("id")));
  });
}

export function servePlans(web: Hono<CallerEnv>, { deps }: App): void {
  web.get("/api/runs/:id/plan", async (context) => {
    const call = { ...context.get("caller"), client: undefined, signal: deps.leaving, progress: () => {} };
    return jsonResponse(await newestPlanOf(deps, call, await requestedRun(deps, context)));
  });
}

/** The terms of sending an unknown start again, as of the run that is the newest one now. */
export function serveRestarts(web: Hono<CallerEnv>, { deps }: App): void {
  web.get("/api/runs/:id/restart", async (context) => {
    const call = { ...context.get("caller"), client: undefined, signal: deps.leaving, progress: () => {} };
    const input = { task_id: context.req.param("id"), accept_possible_double_charge: true };
    const terms = await questionFor(resumeResearch, deps, { input, call });
    return jsonResponse({ question: consentQuestion(terms) });
  });
}

export function serveFigures(web: Hono<CallerEnv>, { deps }: App): void {
  const costsOf = (context: Context<CallerEnv>) => {
    const given = [...new URL(context.req.url).searchParams].filter(([, value]) => value !== "");
    return readCosts(deps, parseInput(costsInput, Object.fromEntries(given)), context.get("caller").owner);
  };
  web.get("/api/figures", async (context) => {
    return jsonResponse((await costsOf(context)).view);
  });
  web.get("/api/budgets", async (context) => {
    return jsonResponse({ budgets: await budgetsNow(deps, context.get("caller")) });
  });
  web.get("/api/figures.csv", async (context) => {
    const { view, rows } = await costsOf(context);
    // Excel reads UTF-8 only after a byte order mark.
    return new Response(`\uFEFF${costsCsv(rows)}`, {
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="costs_${view.since}_${view.until}.csv"`,
      },
    });
  });
}

const runInput = z.object({ task_id: taskIdField });

export const requestedRun = (deps: App["deps"], context: Context<CallerEnv, "/api/runs/:id">): Promise<Run> =>
  ownedRun(deps, context.get("caller").owner, context.req.param("id"));

/** An id that is not a UUID is refused without a query. */
export const ownedRun = (deps: App["deps"], owner: string, id: string): Promise<Run> =>
  deps.findRun(owner, parseInput(runInput, { task_id: id }).task_id);
