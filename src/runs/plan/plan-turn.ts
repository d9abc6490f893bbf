/** Changes or approves the plan of a run: each is a paid request of its own, sent by the start protocol. */

import { AppError } from "../../errors.ts";
import type { RequestVariant } from "../../gemini/research-agent.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { newStartIds } from "../attempt-store.ts";
import type { ResearchDeps } from "../deps.ts";
import { missingSetting } from "../poll/missing-setting.ts";
import { flushUnchargedFailures, guardLostCommit } from "../recovery/uncharged-starts.ts";
import type { Run } from "../run.ts";
import { findRun } from "../run-store.ts";
import { refuseBeforeIntent, sendAttempt, type Sending } from "../start/start.ts";
import { maxWaitOf, variantOf } from "../start/start-options.ts";
import type { CheckCost } from "../start/unconfirmed-store.ts";
import { endExpiredPlans } from "./expired-plans.ts";
import { editInProgress, newestPlan, type StoredPlan } from "./plan-store.ts";
import { PLAN_ENDED } from "./run-plan.ts";
import { commitTurn } from "./turn-store.ts";

/** Google continues the plan with it; any text would do, as `collaborative_planning: false` is what starts the research. */
const GO_AHEAD = "Go ahead with this plan.";

export interface TurnRequest {
  owner: string;
  taskId: string;
  /** The change to make; undefined approves the plan. */
  edit: string | undefined;
  /** The plan that the user has seen and whose price was confirmed. Undefined if none was waiting for approval then. */
  planTurn: number | undefined;
  /** The plan that the caller names: a decision about another plan of the run is not joined. */
  namedTurn?: number | undefined;
  estimate: Record<string, unknown>;
  callerWaitsMs: number;
  checkCost: CheckCost;
  signal: AbortSignal;
}

/** `joined`: the same was requested before, and nothing was sent. */
export type BegunTurn = { kind: "joined"; run: Run } | { kind: "begun"; run: Run; sending: Sending };

export async function beginTurn(deps: ResearchDeps, request: TurnRequest): Promise<BegunTurn> {
  const { db } = deps;
  const { owner, taskId, edit } = request;
  refuseBeforeIntent(deps, request.signal);
  await flushUnchargedFailures(deps);
  await endExpiredPlans(deps);
  const run = await findRun(db, owner, taskId);
  const plan = await newestPlan(db, taskId);
  if (run.status !== "awaiting_approval" || plan === undefined) return joinTurn(deps, run, request);
  // The call was lost before its answer and is repeated: the plan has this change already.
  if (edit !== undefined && edit === plan.edit) return { kind: "joined", run };
  if (plan.turn !== request.planTurn) throw planChanged(run);
  await rejectForeignPlan(deps, taskId, plan);
  const { variant, attemptId } = await commit(deps, { request, run, plan });
  if (attemptId === undefined) return joinTurn(deps, await findRun(db, owner, taskId), request);
  failpoint("after-intent");
  const { query, model: agent = "", enableNotifications } = run;
  // No signal: the user has decided. A call that is cancelled from now on must not leave the run without its plan.
  const sending = sendAttempt(deps, { taskId, attemptId, query, agent, variant, enableNotifications });
  return { kind: "begun", run: await findRun(db, owner, taskId), sending };
}

async function commit(
  deps: ResearchDeps,
  { request, run, plan }: { request: TurnRequest; run: Run; plan: StoredPlan },
): Promise<{ variant: RequestVariant; attemptId: string | undefined }> {
  const { owner, taskId, edit, estimate, callerWaitsMs } = request;
  const now = deps.clock.now();
  const { attemptId } = newStartIds();
  const { material, visualization } = variantOf(run.options) ?? {};
  const variant: RequestVariant = {
    previousInteractionId: plan.interactionId,
    input: edit ?? GO_AHEAD,
    // Sent explicitly: without it Google answers "go ahead" with another plan.
    collaborativePlanning: edit !== undefined,
    ...(visualization === undefined ? {} : { visualization }),
    ...(material === undefined ? {} : { material }),
  };
  const turn = {
    owner,
    taskId,
    attemptId,
    isPlanning: edit !== undefined,
    planEdit: edit,
    basedOn: plan,
    options: { ...run.options, variant },
    estimate,
    deadlineAt: now + maxWaitOf(run.options),
    callerWaitsMs,
    keyFingerprint: deps.agent.fingerprint.key,
    baseUrl: deps.agent.fingerprint.baseUrl,
    processId: deps.processId,
    now,
  };
  const committed = await guardLostCommit(deps, { taskId, attemptId }, () =>
    commitTurn(deps.db, turn, { ...deps, checkCost: request.checkCost }),
  );
  return { variant, attemptId: committed };
}

/** The run is not waiting for approval: the same decision was made before, or there is nothing to decide. */
async function joinTurn({ db }: ResearchDeps, run: Run, { edit, namedTurn }: TurnRequest): Promise<BegunTurn> {
  const { plan } = run;
  if (plan === undefined) throw withoutPlan(run);
  const isSame =
    edit === undefined ? !plan.isPlanning : plan.isPlanning && (await editInProgress(db, run.taskId)) === edit;
  if (!isSame || (run.status !== "pending" && run.status !== "running_async")) throw notWaiting(run);
  if (namedTurn !== undefined && namedTurn !== (await newestPlan(db, run.taskId))?.turn) throw planChanged(run);
  return { kind: "joined", run };
}

const about = (run: Run) => ({ task_id: run.taskId, status: run.status, progress: run.progress });

const withoutPlan = (run: Run): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message: "This run has no plan to change or approve.",
    next: [{ do: "start", with: "plan_first" }],
    run: about(run),
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
    run: about(run),
  });

function notWaiting(run: Run): AppError {
  if (run.error?.code === "PLAN_EXPIRED") return planExpired(run);
  if (run.status === "awaiting_approval") return planChanged(run);
  const isPlanning = run.plan?.isPlanning === true && (run.status === "pending" || run.status === "running_async");
  return new AppError({
    code: isPlanning ? "RESEARCH_NOT_COMPLETED" : "INVALID_INPUT",
    message: isPlanning
      ? "Google is still writing this plan. Nothing was sent."
      : "The plan of this run no longer waits for approval. Nothing was sent.",
    suggestion: isPlanning ? "Wait for it, then change or approve it." : undefined,
    next: [{ do: "wait" }],
    run: about(run),
  });
}

const planExpired = (run: Run): AppError =>
  new AppError({
    code: "PLAN_EXPIRED",
    message: run.error?.message ?? "The plan has expired.",
    ...PLAN_ENDED,
    run: about(run),
  });

/** Only the key that made the plan can continue it. */
async function rejectForeignPlan(deps: ResearchDeps, taskId: string, { interactionId }: StoredPlan): Promise<void> {
  const needed = await missingSetting(deps, { taskId, interactionId });
  if (needed === undefined) return;
  throw new AppError({
    code: "GEMINI_UNAVAILABLE",
    message: "This plan was made with another API key or base URL; only that one can continue it. Nothing was sent.",
    suggestion: "Restore GEMINI_API_KEY and GOOGLE_GEMINI_BASE_URL, then approve it again.",
  });
}
