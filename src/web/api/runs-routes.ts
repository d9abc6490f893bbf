/** Routes that read: the list, a run, its timeline, conversation and plan, the figures; and a run's name, star and archive mark. */

import type { Context, Hono } from "hono";
import { z } from "zod";
import type { App } from "../../app.ts";
import { countMatches, libraryInput, runPage } from "../../operations/list-research.ts";
import { organizeRun } from "../../operations/organize-run.ts";
import { listTags } from "../../runs/library/organize-store.ts";
import { parseInput, perform, questionFor } from "../../operations/perform.ts";
import { readTimeline } from "../../runs/history/timeline.ts";
import { countListed, type ListCounts } from "../../runs/library/count-store.ts";
import { jsonResponse, outcomeResponse, readJsonBody } from "./json.ts";
import { headOf } from "../../operations/view/head-view.ts";
import { readLive, timelineEntry } from "../../operations/view/read-view.ts";
import type { CallerEnv } from "../../caller.ts";
import type {
  BudgetsLeft,
  ConversationView,
  Costs,
  PlanView,
  RestartTerms,
  RunCounts,
  RunPage,
  Timeline,
  Turn,
} from "../wire.ts";
import { conversationRoots, earlierTurns, laterTurns } from "../../operations/followup/conversation.ts";
import { followupTerms } from "../../operations/followup/prepare.ts";
import { isTableRun } from "../../operations/parts/table.ts";
import { reportPresence } from "../../runs/result-store.ts";
import { isFinished, type Run } from "../../runs/run.ts";
import { consentQuestion } from "../consent.ts";
import { AppError } from "../../errors.ts";
import { planAnswer } from "../../operations/parts/plan.ts";
import { resumeResearch } from "../../operations/resume-research.ts";
import { cleanText } from "../../platform/clean-text.ts";
import { isoTime } from "../../platform/clock.ts";
import { plansOf } from "../../runs/plan/plan-store.ts";
import { budgetsNow } from "../../operations/parts/cost-confirmation.ts";
import { costsCsv, costsInput, readCosts } from "../../operations/costs-view.ts";
import { taskIdField } from "../../operations/operation.ts";

export function serveRuns(web: Hono<CallerEnv>, { deps, shutdown }: App): void {
  web.get("/api/runs", async (context) => {
    const { owner } = context.get("caller");
    const request = parseInput(libraryInput, listParameters(new URL(context.req.url).searchParams));
    const db = await deps.database();
    const { runs, next_cursor } = await runPage(db, owner, request);
    const counts = await countListed(db, owner);
    const matches = await countMatches(db, owner, request);
    const now = deps.clock.now();
    const roots = await conversationRoots(
      db,
      runs.map(({ run }) => run),
    );
    const listed = new Set(runs.map(({ run }) => run.taskId));
    const others = new Map([...roots.values()].map((root) => [root.taskId, root]));
    const page: RunPage = {
      runs: runs.map(({ run, found }) => ({ ...headOf(run, now), root_id: roots.get(run.taskId)?.taskId, found })),
      roots: [...others.values()].filter(({ taskId }) => !listed.has(taskId)).map((root) => headOf(root, now)),
      tags: await listTags(db, owner),
      next_cursor,
      ...withTotal(counts),
      found: matches && withTotal(matches),
    };
    return jsonResponse(page);
  });
  web.get("/api/runs/:id", async (context) => {
    const run = await requestedRun(deps, context);
    // Under the id that the page knows, which may stand for a later run.
    return jsonResponse({ ...(await readLive(deps, run)), task_id: context.req.param("id") });
  });
  web.get("/api/runs/:id/timeline", async (context) => {
    const run = await requestedRun(deps, context);
    const { entries, lastSeq } = await readTimeline(await deps.database(), run);
    const timeline: Timeline = { entries: entries.map(timelineEntry), last_seq: lastSeq };
    return jsonResponse(timeline);
  });
  web.post("/api/runs/:id/organize", async (context) => {
    const input = { ...(await readJsonBody(context.req.raw)), task_id: context.req.param("id") };
    const call = { ...context.get("caller"), client: "page", signal: deps.leaving, progress: () => {} };
    const outcome = await shutdown.during(perform(organizeRun, deps, { input, call }));
    if (outcome.failed) return outcomeResponse(outcome);
    return jsonResponse(headOf(await requestedRun(deps, context), deps.clock.now()));
  });
}

const withTotal = (listed: ListCounts): RunCounts => ({
  ...listed,
  total: Object.values(listed.counts).reduce((sum, count) => sum + count, 0),
});

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
  const turnOf = async (run: Run): Promise<Turn> => ({
    ...headOf(run, deps.clock.now()),
    has_report: await hasReport(run),
  });
  const hasReport = async ({ status, taskId }: Run): Promise<boolean> =>
    isFinished(status) && (await reportPresence(await deps.database(), taskId)) !== undefined;
  web.get("/api/runs/:id/conversation", async (context) => {
    const { owner } = context.get("caller");
    const run = await requestedRun(deps, context);
    const db = await deps.database();
    const later = await Promise.all((await laterTurns(db, run)).map(turnOf));
    const isReadable = await hasReport(run);
    // The next question continues the last answer.
    const last = later.findLast(({ has_report }) => has_report)?.task_id ?? (isReadable ? run.taskId : undefined);
    const offerOf = async (taskId: string, what: "question" | "table") => {
      const { likelyUsd, question } = await followupTerms(deps, { owner, taskId }, what);
      return { likely_usd: likelyUsd, question: consentQuestion(question) };
    };
    const view: ConversationView = {
      earlier: await Promise.all((await earlierTurns(db, run)).map(turnOf)),
      later,
      next: last === undefined ? undefined : { task_id: last, ...(await offerOf(last, "question")) },
      // Under the id that the page asks with, which may stand for a later run: a yes names the run.
      table: isReadable && !isTableRun(run) ? await offerOf(context.req.param("id"), "table") : undefined,
    };
    return jsonResponse(view);
  });
}

export function servePlans(web: Hono<CallerEnv>, { deps }: App): void {
  web.get("/api/runs/:id/plan", async (context) => {
    const run = await requestedRun(deps, context);
    const call = { ...context.get("caller"), client: undefined, signal: deps.leaving, progress: () => {} };
    const turns = await plansOf(await deps.database(), run.taskId);
    const newest = turns.at(-1);
    if (newest === undefined) throw withoutPlan();
    const decision = { task_id: run.taskId, plan_turn: newest.turn };
    const question = await questionFor(resumeResearch, deps, { input: { ...decision, approve: true }, call });
    const editQuestion = await questionFor(resumeResearch, deps, {
      input: { ...decision, plan_edit: newest.text },
      call,
    });
    const { estimated_cost } = await planAnswer(deps, call, { run });
    const isWaiting = run.status === "awaiting_approval";
    const view: PlanView = {
      task_id: run.taskId,
      turn: newest.turn,
      text: cleanText(newest.text),
      changes: turns.flatMap(({ edit }) => (edit === undefined ? [] : [cleanText(edit)])),
      estimated_cost,
      expires_at: isWaiting && run.deadlineAt !== undefined ? isoTime(run.deadlineAt) : undefined,
      question: consentQuestion(question),
      edit_question: consentQuestion(editQuestion),
    };
    return jsonResponse(view);
  });
}

/** The terms of sending an unknown start again, as of the run that is the newest one now. */
export function serveRestarts(web: Hono<CallerEnv>, { deps }: App): void {
  web.get("/api/runs/:id/restart", async (context) => {
    const call = { ...context.get("caller"), client: undefined, signal: deps.leaving, progress: () => {} };
    const input = { task_id: context.req.param("id"), accept_possible_double_charge: true };
    const terms: RestartTerms = { question: consentQuestion(await questionFor(resumeResearch, deps, { input, call })) };
    return jsonResponse(terms);
  });
}

const withoutPlan = (): AppError =>
  new AppError({ code: "INVALID_INPUT", message: "This run has no plan.", details: { status: 404 } });

export function serveFigures(web: Hono<CallerEnv>, { deps }: App): void {
  const costsOf = (context: Context<CallerEnv>) => {
    const given = [...new URL(context.req.url).searchParams].filter(([, value]) => value !== "");
    return readCosts(deps, parseInput(costsInput, Object.fromEntries(given)), context.get("caller").owner);
  };
  web.get("/api/figures", async (context) => {
    const costs: Costs = (await costsOf(context)).view;
    return jsonResponse(costs);
  });
  web.get("/api/budgets", async (context) => {
    const left: BudgetsLeft = { budgets: await budgetsNow(deps, context.get("caller")) };
    return jsonResponse(left);
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
