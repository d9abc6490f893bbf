/** Changes or approves a plan: each is a paid request, and so a run that carries on the plan. */

import { AppError } from "../../errors.ts";
import type { RequestVariant } from "../../gemini/research-agent.ts";
import { currentOf } from "../conversation-store.ts";
import type { ResearchDeps } from "../deps.ts";
import { missingSetting } from "../poll/ask.ts";
import { flushUnchargedFailures } from "../recovery/unsettled-starts.ts";
import { aboutRun, type Run } from "../run.ts";
import { refuseBeforeIntent } from "../start/check-before-sending.ts";
import { type Sending, startCarryingOn } from "../start/start.ts";
import { variantOf } from "../start/start-options.ts";
import type { CheckCost } from "../start/limits-store.ts";
import { editOf, expirePlans, newestPlan, PLAN_ENDED, type StoredPlan } from "./plan-store.ts";

/** Google continues the plan with it; any text would do, as `collaborative_planning: false` is what starts the research. */
const GO_AHEAD = "Go ahead with this plan.";

export interface PlanDecision {
  owner: string;
  taskId: string;
  /** The change to make; undefined approves the plan. */
  edit: string | undefined;
  /** The run of the plan that the user has seen and whose price was confirmed. Undefined if none was waiting then. */
  plan: string | undefined;
  /** The plan that the caller names by its number: a decision about another plan is not joined. */
  namedTurn?: number | undefined;
  estimate: Record<string, unknown> | undefined;
  callerWaitsMs: number;
  checkCost: CheckCost;
  signal: AbortSignal;
}

/** `joined`: the same was requested before, and nothing was sent. */
export type Decided = { kind: "joined"; run: Run } | { kind: "begun"; run: Run; sending: Sending };

export async function decideOnPlan(deps: ResearchDeps, decision: PlanDecision): Promise<Decided> {
  const { db } = deps;
  const { owner, taskId, edit } = decision;
  refuseBeforeIntent(deps, decision.signal);
  await flushUnchargedFailures(deps);
  await endExpiredPlans(deps);
  const run = await currentOf(db, owner, taskId);
  const plan = await newestPlan(db, run.taskId);
  if (run.status !== "awaiting_approval" || plan === undefined) return joinDecision(deps, run, decision);
  // The call was lost before its answer and is repeated: the plan has this change already.
  if (edit !== undefined && edit === plan.edit) return { kind: "joined", run };
  if (plan.taskId !== decision.plan || (decision.namedTurn ?? plan.turn) !== plan.turn) throw planChanged(run);
  await rejectForeignPlan(deps, plan);
  const begun = await startCarryingOn(deps, run, {
    from: "completed",
    part: edit === undefined ? "research" : "plan",
    variant: variantFor(run, plan, edit),
    estimate: decision.estimate,
    callerWaitsMs: decision.callerWaitsMs,
    checkCost: decision.checkCost,
    // No signal: the user has decided. A call that is cancelled from now on must not leave the plan undecided.
  });
  const current = await currentOf(db, owner, taskId);
  return begun === undefined ? joinDecision(deps, current, decision) : { ...begun, kind: "begun", run: current };
}

function variantFor(run: Run, plan: StoredPlan, edit: string | undefined): RequestVariant {
  const { material, visualization } = variantOf(run.options) ?? {};
  return {
    previousInteractionId: plan.interactionId,
    input: edit ?? GO_AHEAD,
    // Sent explicitly: without it Google answers "go ahead" with another plan.
    collaborativePlanning: edit !== undefined,
    ...(visualization === undefined ? {} : { visualization }),
    ...(material === undefined ? {} : { material }),
  };
}

/** No plan is waiting: the same decision was made before, or there is nothing to decide. */
async function joinDecision({ db }: ResearchDeps, run: Run, { edit, namedTurn }: PlanDecision): Promise<Decided> {
  if (run.part !== "plan" && run.part !== "research") throw withoutPlan(run);
  const isSame = edit === undefined ? run.part === "research" : run.part === "plan" && editOf(run.options) === edit;
  if (!isSame || (run.status !== "pending" && run.status !== "running_async")) throw notWaiting(run);
  if (namedTurn !== undefined && namedTurn !== (await newestPlan(db, run.taskId))?.turn) throw planChanged(run);
  return { kind: "joined", run };
}

/** The rest is left to the next sweep. */
const MAX_PER_SWEEP = 100;

export async function endExpiredPlans({ db, clock, log }: Pick<ResearchDeps, "db" | "clock" | "log">): Promise<void> {
  for (const taskId of await expirePlans(db, { now: clock.now(), limit: MAX_PER_SWEEP })) {
    log.forRun(taskId).info(`Run ${taskId}: the plan has expired without approval. Nothing was charged for research.`);
  }
}

const withoutPlan = (run: Run): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message: "This run has no plan to change or approve.",
    next: [{ do: "start", with: "plan_first" }],
    run: aboutRun(run),
  });

const planChanged = (run: Run): AppError =>
  new AppError({
    code: "CONFIRMATION_NEEDED",
    message: "The plan was changed meanwhile. Nothing was sent and nothing was charged.",
    suggestion:
      run.status === "awaiting_approval"
        ? "Read the new plan, then change or approve it."
        : "A decision was made on the new plan.",
    next: [{ do: run.status === "awaiting_approval" ? "read" : "wait" }],
    run: aboutRun(run),
  });

function notWaiting(run: Run): AppError {
  if (run.error?.code === "PLAN_EXPIRED") return planExpired(run);
  if (run.status === "awaiting_approval") return planChanged(run);
  const isPlanning = run.part === "plan" && (run.status === "pending" || run.status === "running_async");
  return new AppError({
    code: isPlanning ? "RESEARCH_NOT_COMPLETED" : "INVALID_INPUT",
    message: isPlanning
      ? "Google is still writing this plan. Nothing was sent."
      : "The plan of this run no longer waits for approval. Nothing was sent.",
    suggestion: isPlanning ? "Wait for it, then change or approve it." : undefined,
    next: [{ do: "wait" }],
    run: aboutRun(run),
  });
}

const planExpired = (run: Run): AppError =>
  new AppError({
    code: "PLAN_EXPIRED",
    message: run.error?.message ?? "The plan has expired.",
    ...PLAN_ENDED,
    run: aboutRun(run),
  });

/** Only the key that made the plan can continue it. */
async function rejectForeignPlan(deps: ResearchDeps, plan: StoredPlan): Promise<void> {
  const needed = await missingSetting(deps, plan);
  if (needed === undefined) return;
  throw new AppError({
    code: "GEMINI_UNAVAILABLE",
    message: "This plan was made with another API key or base URL; only that one can continue it. Nothing was sent.",
    suggestion: "Restore GEMINI_API_KEY and GOOGLE_GEMINI_BASE_URL, then approve it again.",
  });
}
