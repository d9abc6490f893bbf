/** Plans in answers: the text of a plan with what to do next, and the user's decision to change or approve it. */

import { z } from "zod";
import { costFields } from "../../costs/actual.ts";
import type { PlanStage } from "../../costs/estimate.ts";
import { AppError } from "../../errors.ts";
import { PLAN_CANCELLED, PLAN_ENDED, type StoredPlan } from "../../runs/plan/plan-store.ts";
import { aboutRun, isIdle, type Run } from "../../runs/run.ts";
import type { Call, OperationDeps, Question } from "../operation.ts";
import type { Subject } from "../question/subject.ts";
import type { Advice } from "../../action.ts";
import { readLive } from "../view/read-view.ts";
import type { RunLive } from "../view/run-view.ts";
import { adviceText } from "./advice.ts";
import { adviceWithoutReport } from "./after-failure.ts";
import { costQuestion, estimateFor, requireCostConsent } from "./cost-confirmation.ts";
import { followRun } from "./follow-run.ts";
import { materialSent } from "../view/sent-material.ts";
import { tokensSent } from "./material.ts";
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

interface PlanOf {
  run: Run;
  live?: RunLive;
}

/** The plan of a run that waits for approval, or that has led to no report; empty for any other. */
export async function planAnswer(
  deps: OperationDeps,
  call: Pick<Call, "owner">,
  { run, live: known }: PlanOf,
): Promise<Partial<PlanAnswer>> {
  if (run.part !== "plan" && run.part !== "research") return NO_PLAN;
  const live = known ?? (await readLive(deps, run));
  const { plan } = live;
  if (plan === undefined) return NO_PLAN;
  if (live.status !== "awaiting_approval") return { plan, next_step: adviceText(adviceAfterPlan(run)) };
  const { query, model: agent = "" } = live;
  const found = await estimateFor(deps, call, { query, agent, plan: { text: plan }, tokens: await tokensSent(run) });
  const cost = found && { likely_usd: found.usd.likely, max_usd: found.usd.max };
  return { plan, plan_turn: live.plan_turn, estimated_cost: cost, next_step: nextStep(live, cost) };
}

function adviceAfterPlan(run: Run): Advice {
  if (run.part === "research") return adviceWithoutReport(run);
  // A cancelled run cannot be resumed.
  return run.status === "cancelled" ? PLAN_CANCELLED : PLAN_ENDED;
}

/** The answer of a start whose plan waits for approval. */
export const planned = async (deps: OperationDeps, call: Pick<Call, "owner">, run: Run) => ({
  success: true,
  results: undefined,
  task_id: run.taskId,
  status: run.status,
  mode: "async",
  ...costFields(run.cost),
  material: materialSent(run),
  ...(await planAnswer(deps, call, { run })),
});

function nextStep({ plan_turn, deadline_at: until }: RunLive, cost: PlanAnswer["estimated_cost"]): string | undefined {
  const usd = cost && { likely: cost.likely_usd, max: cost.max_usd };
  return adviceText({
    suggestion: `Show the plan to the user. It waits until ${until}.`,
    next: [{ do: "approve", usd, plan_turn }, { do: "edit_plan" }],
  });
}

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
  call: Pick<Call, "owner">,
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
    ...(await requireCostConsent(deps, call, start)),
    callerWaitsMs: edit === undefined ? 0 : ANSWER_WITHIN_MS,
    signal,
  });
  runner.start();
  runner.wake();
  const sending = decided.kind === "begun" ? decided.sending : undefined;
  const { taskId } = decided.run;
  const accepted = await waitForStartOutcome(deps, { owner, taskId, sending, answerBy });
  if (sending !== undefined && accepted.error !== undefined) throw notChanged(accepted);
  const waitMs = Math.min(deps.settings.syncWindowMs, answerBy - deps.clock.monotonic());
  const current =
    edit === undefined
      ? accepted
      : await followRun(deps, accepted, { call, ms: waitMs, until: ({ status }) => isIdle(status) });
  const isReturned = decided.kind === "begun" && call.returnWhen?.aborted !== true && !signal.aborted;
  if (isReturned && current.status === "awaiting_approval") await recordReturnedEnd(deps, current.taskId);
  return {
    success: true,
    task_id: current.taskId,
    status: current.status,
    ...(await planAnswer(deps, call, { run: current })),
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
