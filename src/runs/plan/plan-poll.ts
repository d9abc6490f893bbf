/** Applies Google's answer to a poll of a planning turn: the plan is there, the turn failed, or it goes on. */

import { countAgentUsage } from "../../gemini/call-telemetry.ts";
import type { Interaction } from "../../gemini/research-agent.ts";
import { failpoint } from "../../platform/failpoint.ts";
import type { ResearchDeps } from "../deps.ts";
import { lockRun } from "../lock-store.ts";
import { clearOddAnswer, sameAnswerSince } from "../poll/odd-answer-store.ts";
import { AGAIN, type Outcome } from "../poll/outcome.ts";
import { finishAgentRun } from "../poll/poll-result-store.ts";
import type { PolledRun } from "../poll/polled-run.ts";
import { UNKNOWN_USAGE, withEarlierTurns } from "./run-plan.ts";
import { finishPlan, keepPlan, type PlanResult, recordTurnUsage, returnToPlan } from "./turn-store.ts";
import { currentUsage } from "./turn-usage.ts";

/** Google often reports usage some seconds after completion. The plan waits that long, so that its cost is known. */
const MAX_USAGE_WAIT_MS = 30_000;
const USAGE_AGAIN_MS = 3_000;
const WITHOUT_USAGE = "plan-without-usage";

/** Undefined where a plan is treated like a research: while it is being written, and when the first turn fails. */
export async function planFound(
  deps: ResearchDeps,
  run: PolledRun,
  interaction: Interaction,
): Promise<Outcome | undefined> {
  const { status } = interaction;
  const isOpen = status === "working" || status === "unknown";
  if (isOpen) return undefined;
  if (status === "completed" && interaction.report.trim() !== "") return planWritten(deps, run, interaction);
  return run.status === "running_async" && run.cancelRequestedAt === undefined
    ? turnFailed(deps, run, interaction)
    : undefined;
}

async function planWritten(deps: ResearchDeps, run: PolledRun, interaction: Interaction): Promise<Outcome> {
  const now = deps.clock.now();
  const text = interaction.report.trim();
  if (interaction.usage === undefined && run.status === "running_async") {
    const since = await sameAnswerSince(deps.db, { taskId: run.taskId, answer: WITHOUT_USAGE, now });
    if (now - since < MAX_USAGE_WAIT_MS) return { next: { afterMs: USAGE_AGAIN_MS } };
  }
  const usage = interaction.usage === undefined ? UNKNOWN_USAGE : currentUsage(deps, run, interaction.usage);
  const plan = { run, text, usage, usageFinal: interaction.usage !== undefined, expiresAt: now + deps.planKeptMs, now };
  if (run.cancelRequestedAt !== undefined) return cancelledAfterPlan(deps, plan);
  failpoint("before-finish");
  if (!(await finishPlan(deps.db, plan))) return AGAIN;
  failpoint("after-finish");
  if (interaction.usage !== undefined) countAgentUsage(run.agent, interaction.usage, usage.cost.usd);
  return { next: "never", recorded: true };
}

/** The user cancelled the run while Google wrote the plan: it is paid for, and kept unless nothing was to be kept. */
async function cancelledAfterPlan(
  { db }: ResearchDeps,
  { run, ...plan }: Omit<PlanResult, "run"> & { run: PolledRun },
): Promise<Outcome> {
  const { text, usage, expiresAt, usageFinal, now } = plan;
  const isConfirmed = await finishAgentRun(db, {
    run,
    to: "cancelled",
    confirmsCancel: run.status === "cancelled",
    cancelConfirmed: true,
    result: undefined,
    raw: undefined,
    error: undefined,
    ...withEarlierTurns(run.plan, usage),
    usageFinal,
    nextPollAt: undefined,
    now,
  });
  if (!isConfirmed) return AGAIN;
  if (run.keepPartial) await keepPlan(db, { run, text, usage, expiresAt });
  else await recordTurnUsage(db, run, usage);
  return { next: "never", recorded: true };
}

/** A change of the plan that failed at Google leaves the earlier plan as it was. */
async function turnFailed(deps: ResearchDeps, run: PolledRun, { usage }: Interaction): Promise<Outcome | undefined> {
  const { taskId, epoch } = run;
  const now = deps.clock.now();
  const error = { code: "RESEARCH_FAILED", message: CHANGE_FAILED };
  const hasPlan = await deps.db.transaction().execute(async (transaction) => {
    await lockRun(transaction, taskId);
    if (usage !== undefined) await recordTurnUsage(transaction, run, currentUsage(deps, run, usage));
    return returnToPlan(transaction, { taskId, epoch, error, now });
  });
  if (!hasPlan) return undefined;
  await clearOddAnswer(deps.db, taskId);
  return { next: "never", recorded: true };
}

const CHANGE_FAILED = "Google did not return a changed plan. The plan before it is still waiting for approval.";
