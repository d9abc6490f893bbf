/** Stores what a poll of a planning turn found: its plan, or that it failed and the plan before it waits again. */

import { countAgentUsage } from "../../gemini/call-telemetry.ts";
import type { Interaction } from "../../gemini/research-agent.ts";
import { failpoint } from "../../platform/failpoint.ts";
import type { ResearchDeps } from "../deps.ts";
import { lockRun } from "../lock-store.ts";
import { sameAnswerSince } from "../poll/odd-answer-store.ts";
import { AGAIN, type Outcome } from "../poll/outcome.ts";
import { finishAgentRun } from "../poll/poll-result-store.ts";
import type { PolledRun } from "../poll/polled-run.ts";
import { UNKNOWN_USAGE, withEarlierTurns } from "./run-plan.ts";
import { finishPlan, type PlanResult, recordTurnUsage, returnToPlan } from "./turn-store.ts";
import { currentUsage } from "./turn-usage.ts";

/** Google often reports usage some seconds after completion. The plan waits that long, so that its cost is known. */
const MAX_USAGE_WAIT_MS = 30_000;
const USAGE_AGAIN_MS = 3_000;
const WITHOUT_USAGE = "plan-without-usage";

/** Undefined where a plan is treated like a research: while it is being written, and when the turn fails. */
export async function planFound(
  deps: ResearchDeps,
  run: PolledRun,
  interaction: Interaction,
): Promise<Outcome | undefined> {
  const isWritten = interaction.status === "completed" && interaction.report.trim() !== "";
  return isWritten ? planWritten(deps, run, interaction) : undefined;
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
    plan: { run, text, usage, expiresAt },
    ...withEarlierTurns(run.plan, usage),
    usageFinal,
    now,
  });
  return isConfirmed ? { next: "never", recorded: true } : AGAIN;
}

/**
 * However a change of the plan failed, the plan before it waits for approval again. False where there is none, and
 * where the run has ended or was cancelled.
 */
export async function returnAfterFailedChange(
  deps: ResearchDeps,
  run: PolledRun,
  usage: Interaction["usage"],
): Promise<boolean> {
  if (run.status !== "running_async" || run.cancelRequestedAt !== undefined) return false;
  const { taskId, epoch } = run;
  const now = deps.clock.now();
  const error = { code: "RESEARCH_FAILED", message: CHANGE_FAILED };
  // Without usage the cost of the run becomes a lower bound: the turn may have been charged.
  const used = usage === undefined ? UNKNOWN_USAGE : currentUsage(deps, run, usage);
  const hasPlan = await deps.db.transaction().execute(async (transaction) => {
    await lockRun(transaction, taskId);
    await recordTurnUsage(transaction, run, used);
    return returnToPlan(transaction, { taskId, epoch, error, now });
  });
  if (hasPlan && usage !== undefined) countAgentUsage(run.agent, usage, used.cost.usd);
  return hasPlan;
}

const CHANGE_FAILED = "Google did not return a changed plan. The plan before it is still waiting for approval.";
