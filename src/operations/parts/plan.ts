/** Plans in answers: the text of a plan with what to do next, and the user's decision to change or approve it. */

import { z } from "zod";
import { costFields } from "../../costs/actual.ts";
import type { PlanStage } from "../../costs/estimate.ts";
import { AppError } from "../../errors.ts";
import { isoTime } from "../../platform/clock.ts";
import { waitForRun } from "../../runs/history/read.ts";
import type { StoredPlan } from "../../runs/plan/plan-store.ts";
import { PLAN_CANCELLED, PLAN_ENDED } from "../../runs/plan/run-plan.ts";
import { isFinished, isIdle, type Run, aboutRun } from "../../runs/run.ts";
import type { Call, OperationDeps, Question } from "../operation.ts";
import type { Subject } from "../question/subject.ts";
import { adviceText } from "./advice.ts";
import { adviceWithoutReport } from "./after-failure.ts";
import { costQuestion, estimateFor, requireCostConsent } from "./cost-confirmation.ts";
import { materialSent, tokensSent } from "./material.ts";
import {
  ANSWER_WITHIN_MS,
  failedStart,
  messageOnceAccepted,
  recordReturnedEnd,
  requireDurable,
  waitForStartOutcome,
} from "../start/started-run.ts";

/** Declared once: every declared field is sent with the list of tools, and the others explain themselves. */
export const planFields = { plan: z.string() };

interface PlanAnswer {
  plan: string | undefined;
  /** Of a plan that waits for approval: a decision can name it. */
  plan_turn: number | undefined;
  estimated_cost: { likely_usd: number; max_usd: number } | undefined;
  next_step: string | undefined;
}

/** In an answer without a plan, so that all answers of an operation have the same fields. */
export const NO_PLAN: Partial<PlanAnswer> = {};

/** The plan of a run that waits for approval, or that ended before its research; empty for any other. */
export async function planAnswer(deps: OperationDeps, call: PayingCall, run: Run): Promise<Partial<PlanAnswer>> {
  if (run.part !== "plan") return NO_PLAN;
  if (!isIdle(run.status)) return NO_PLAN;
  const { newestPlan } = await import("../../runs/plan/plan-store.ts");
  const plan = await newestPlan(await deps.database(), run.taskId);
  if (plan === undefined) return NO_PLAN;
  if (isFinished(run.status)) {
    // A cancelled run cannot be resumed.
    return { plan: plan.text, next_step: adviceText(run.status === "cancelled" ? PLAN_CANCELLED : PLAN_ENDED) };
  }
  const { query, model: agent = "" } = run;
  const tokens = await tokensSent(run);
  const found = await estimateFor(deps, call, { query, agent, plan: { text: plan.text }, tokens });
  const cost = found && { likely_usd: found.usd.likely, max_usd: found.usd.max };
  return { plan: plan.text, plan_turn: plan.turn, estimated_cost: cost, next_step: nextStep(cost, plan) };
}

/** The same, and the approved plan of a research that ended without a text. */
export async function lastPlan(deps: OperationDeps, call: PayingCall, run: Run): Promise<Partial<PlanAnswer>> {
  const { part, status, taskId } = run;
  const isLost = part === "research" && (status === "failed" || status === "cancelled");
  if (!isLost) return planAnswer(deps, call, run);
  const db = await deps.database();
  const { reportPresence } = await import("../../runs/result-store.ts");
  if ((await reportPresence(db, taskId)) !== undefined) return NO_PLAN;
  const { newestPlan } = await import("../../runs/plan/plan-store.ts");
  return { plan: (await newestPlan(db, taskId))?.text, next_step: adviceText(adviceWithoutReport(run)) };
}

/** The answer of a start whose plan waits for approval. */
export const planned = async (deps: OperationDeps, call: PayingCall, run: Run) => ({
  ...planHead(run),
  ...(await planAnswer(deps, call, run)),
});

/** The same, rebuilt from the stored run alone, without the cost; the research may be in progress by now. */
export const storedPlan = (run: Run, plan: string) => ({
  ...planHead(run),
  ...NO_PLAN,
  plan,
  ...(run.status === "awaiting_approval" ? { next_step: nextStep(undefined, { expiresAt: run.deadlineAt ?? 0 }) } : {}),
});

const planHead = (run: Run) => ({
  success: true,
  results: undefined,
  task_id: run.taskId,
  status: run.status,
  mode: "async",
  ...costFields(run.cost),
  material: materialSent(run),
});

function nextStep(
  cost: PlanAnswer["estimated_cost"],
  { turn, expiresAt }: Pick<StoredPlan, "expiresAt"> & Partial<StoredPlan>,
): string | undefined {
  const usd = cost && { likely: cost.likely_usd, max: cost.max_usd };
  return adviceText({
    suggestion: `Show the plan to the user. It waits until ${isoTime(expiresAt)}.`,
    next: [{ do: "approve", usd, plan_turn: turn }, { do: "edit_plan" }],
  });
}

type PayingCall = Pick<Call, "owner" | "agreed" | "estimates">;

export interface Decision {
  /** The change to make; undefined approves the plan. */
  edit: string | undefined;
  /** The plan that the caller names; undefined if it names none. */
  planTurn: number | undefined;
  /** What a yes agrees to, besides the plan and the price. */
  about: Pick<Subject, "operation" | "input" | "run">;
}

async function waitingPlan(deps: OperationDeps, run: Run): Promise<StoredPlan | undefined> {
  if (run.status !== "awaiting_approval") return undefined;
  const { newestPlan } = await import("../../runs/plan/plan-store.ts");
  return newestPlan(await deps.database(), run.taskId);
}

/** Undefined where nothing can be decided, which the operation itself reports. */
export async function questionOnPlan(
  deps: OperationDeps,
  call: PayingCall,
  { run, ...decision }: Decision & { run: Run },
): Promise<Question | undefined> {
  const plan = await waitingPlan(deps, run);
  if (plan === undefined || (decision.planTurn ?? plan.turn) !== plan.turn) return undefined;
  return costQuestion(deps, call, await paidBy(run, plan, decision));
}

/** What the decision would pay for. */
async function paidBy(run: Run, plan: StoredPlan | undefined, { edit, about }: Pick<Decision, "edit" | "about">) {
  const { query, model: agent = "" } = run;
  const stage: PlanStage | undefined = plan && (edit === undefined ? { text: plan.text } : "wanted");
  return { about: { ...about, current: plan?.taskId }, query, agent, plan: stage, tokens: await tokensSent(run) };
}

export async function decideOnPlan(deps: OperationDeps, call: Call, { run, ...decision }: Decision & { run: Run }) {
  const answerBy = (call.since ?? deps.clock.monotonic()) + ANSWER_WITHIN_MS;
  const { research, runner, obstacle } = await deps.research();
  await requireDurable({ obstacle });
  const { edit } = decision;
  const { owner, signal } = call;
  // Read once: the plan that is priced here is the only one that this decision can be about.
  const plan = await waitingPlan(deps, run);
  const start = await paidBy(run, plan, decision);
  const plans = await import("../../runs/plan/decide.ts");
  const decided = await plans.decideOnPlan(research, {
    owner,
    taskId: run.taskId,
    edit,
    plan: plan && (call.agreed?.current ?? plan.taskId),
    namedTurn: decision.planTurn,
    checkCost: await requireCostConsent(deps, call, start),
    estimate: { ...(await estimateFor(deps, call, start)) },
    callerWaitsMs: edit === undefined ? 0 : ANSWER_WITHIN_MS,
    signal,
  });
  runner.start();
  runner.wake();
  const sending = decided.kind === "begun" ? decided.sending : undefined;
  const { taskId } = decided.run;
  const accepted = await waitForStartOutcome(deps, { owner, taskId, sending, answerBy });
  if (sending !== undefined && accepted.error !== undefined) throw notChanged(accepted);
  const current = edit === undefined ? accepted : await waitForPlan(deps, call, { run: accepted, answerBy });
  const isReturned = decided.kind === "begun" && call.returnWhen?.aborted !== true && !signal.aborted;
  if (isReturned && current.status === "awaiting_approval") await recordReturnedEnd(deps, current.taskId);
  return {
    success: true,
    task_id: current.taskId,
    status: current.status,
    ...(await planAnswer(deps, call, current)),
    message: messageOf(current, decided.kind),
    check_status_command: `check_research_status(task_id='${current.taskId}')`,
  };
}

function messageOf(run: Run, kind: "joined" | "begun"): string {
  const { status, part, error } = run;
  if (status === "awaiting_approval") return error?.message ?? "The plan waits for approval.";
  if (status === "failed" || status === "cancelled") return error?.message ?? "The run was cancelled.";
  if (part === "plan") return "Google is changing the plan.";
  return kind === "joined"
    ? "This plan was approved before: nothing was sent and nothing is charged for this call."
    : `The plan is approved. ${messageOnceAccepted(run, "The research is running in the background.")}`;
}

/** The turn was not charged, so the plan waits for approval as before. */
const notChanged = (run: Run): AppError => {
  const { code, message } = failedStart(run);
  return new AppError({
    code,
    message,
    suggestion: `Nothing was charged, and the plan still waits for approval. ${run.error?.suggestion ?? "Try again."}`,
    run: aboutRun(run),
  });
};

async function waitForPlan(
  deps: OperationDeps,
  { owner, signal, returnWhen }: Call,
  { run, answerBy }: { run: Run; answerBy: number },
): Promise<Run> {
  const window = Math.min(deps.settings.syncWindowMs, answerBy - deps.clock.monotonic());
  return waitForRun(await deps.database(), deps.clock, {
    owner,
    taskId: run.taskId,
    until: ({ status }) => isIdle(status),
    ms: Math.max(0, window),
    signal: returnWhen === undefined ? signal : AbortSignal.any([signal, returnWhen]),
  });
}
