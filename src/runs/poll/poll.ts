/** Polls one background run, applies Google's response and returns when to poll it next. */

import type { Lane } from "../engine/engine.ts";
import type { Interaction } from "../../gemini/research-agent.ts";
import { oneLine } from "../../platform/clean-text.ts";
import { headingOf } from "../activity/activity.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { storable } from "../../store/database.ts";
import { packRaw, resultOrText } from "./agent-result.ts";
import { type AgentFinish, finishAgentRun, keepLaterText } from "./poll-result-store.ts";
import { ask, canHaveExpired, MIN_RETENTION_MS, missingSetting } from "./ask.ts";
import {
  endedEarlyMessage,
  EXPIRED,
  failedMessage,
  failure,
  gateReport,
  NO_REPORT,
  REJECTED,
  UNKNOWN_STATUS,
} from "./endings.ts";
import { type PolledRun, usageOf } from "../run.ts";
import { collectUsage, MIN_USAGE_INTERVAL_MS, pollForMissingUsage, pollForUsage } from "./usage.ts";
import { type Obstacle, obstacleBehind } from "./obstacle.ts";
import {
  AGAIN,
  changesOf,
  clearOddAnswer,
  NEVER,
  type Outcome,
  RATE_LIMIT_MS,
  REJECTION,
  sameAnswerSince,
} from "./seen-store.ts";
import { progressBySeen } from "../history/run-estimate.ts";
import type { ResearchDeps } from "../deps.ts";
import { savePartial } from "../result-store.ts";
import { withTable } from "../table/table-result.ts";

const WRONG_KEY_AGAIN_MS = 60_000;
/** A rejection that lasts this long is permanent: 400 has been observed to persist after minutes of 403. */
const PERMANENT_REJECTION_MS = 10 * 60_000;
/** An unknown status counts as an end after this time without a change; sooner when text, usage or an error exists. */
const UNKNOWN_IS_END_MS = 30 * 60_000;
const UNKNOWN_IS_END_WITH_RESULT_MS = 2 * 60_000;
const AGAIN_MS = { too_long: 10 * 60_000, missing: 60_000 };

export async function pollRun(deps: ResearchDeps, run: PolledRun, lane: Lane = "slow"): Promise<Outcome> {
  if (run.status === "completed") return pollForUsage(deps, run, lane);
  const polled = await ask(deps, run, lane);
  failpoint("after-poll");
  if (deps.leaving.aborted && polled !== "slow" && polled.kind === "unreachable") return { next: { afterMs: 0 } };
  if (polled === "slow") return { next: "slow" };
  if (polled.kind !== "rejected" && run.oddAnswer === REJECTION) await clearOddAnswer(deps.db, run.taskId);
  switch (polled.kind) {
    case "found":
      return found(deps, run, polled.interaction);
    case "missing":
    case "forbidden":
      return inaccessible(deps, run, polled.kind);
    case "rate_limited":
      return { ...((await pastDeadline(deps, run)) ?? AGAIN), pauseMs: polled.retryAfterMs ?? RATE_LIMIT_MS };
    case "too_long":
      return (await pastDeadline(deps, run)) ?? againLater(deps, run, "too_long");
    case "unreachable":
      deps.log.forRun(run.taskId).debug(`Run ${run.taskId}: ${polled.error.message}`);
      return (await pastDeadline(deps, run)) ?? obstructed(deps, run, obstacleBehind(polled.error));
    default:
      return rejected(deps, run);
  }
}

/** Shows which setting a run waits for when no process has its key. At its deadline it is polled with this key. */
export async function waitForKey(deps: ResearchDeps, run: PolledRun): Promise<Outcome> {
  if (deps.clock.now() >= run.deadlineAt) return pollRun(deps, run);
  const needed = await missingSetting(deps, run);
  return needed === undefined ? AGAIN : obstructed(deps, run, needed);
}

/** The first time may be transient; a run that already has the obstacle is polled less often. */
function againLater(deps: ResearchDeps, run: PolledRun, kind: keyof typeof AGAIN_MS): Outcome {
  if (run.obstacle?.kind === kind) return { next: { afterMs: AGAIN_MS[kind] } };
  return obstructed(deps, run, { kind });
}

async function found(deps: ResearchDeps, run: PolledRun, interaction: Interaction): Promise<Outcome> {
  const text = interaction.report.trim();
  // Polled again after its end: only a finished report changes its state, and no plan after its cancel.
  const isOver = run.status === "failed" || run.cancelConfirmed === true;
  const isCancelledPlan = isPlan(run) && run.cancelRequestedAt !== undefined;
  if (isOver && (interaction.status !== "completed" || text === "" || isCancelledPlan)) {
    await keepText(deps, run, interaction);
    const isOpen = interaction.status === "working" || interaction.status === "unknown";
    if (!isOpen) return collectUsage(deps, run, interaction.usage);
    return deps.clock.now() < run.deadlineAt ? AGAIN : pollForMissingUsage(deps, run);
  }
  if (interaction.status !== "unknown" && run.oddAnswer !== undefined) await clearOddAnswer(deps.db, run.taskId);
  switch (interaction.status) {
    case "working":
      return working(deps, run, interaction);
    case "unknown":
      return unknownStatus(deps, run, interaction);
    case "completed":
      if (text !== "" && isPlan(run)) return end(deps, run, { interaction, ...endOfPlan(run) });
      if (text !== "") return end(deps, run, { interaction, ...gateReport(deps, run, interaction) });
      return end(deps, run, { interaction, to: "failed", message: NO_REPORT });
    case "cancelled":
      return end(deps, run, { interaction, to: "cancelled" });
    case "failed":
      return end(deps, run, { interaction, to: "failed", message: failedMessage(interaction) });
    default:
      return end(deps, run, { interaction, to: "failed", message: endedEarlyMessage(interaction) });
  }
}

/**
 * An unknown status may be final or a new kind of progress. A running interaction has no text, usage or error, so if
 * these exist and do not change, the run has ended. Polling continues until the deadline in case a report arrives.
 */
async function unknownStatus(deps: ResearchDeps, run: PolledRun, interaction: Interaction): Promise<Outcome> {
  const goesOn = await working(deps, run, interaction);
  const now = deps.clock.now();
  if (run.status !== "running_async" || now >= run.deadlineAt) return goesOn;
  const { rawStatus, report, usage, failureCause, thoughts, searches } = interaction;
  const facts = [rawStatus, report.length, usage?.input, usage?.output, failureCause, thoughts.length, searches.length];
  const answer = JSON.stringify(facts).slice(0, 500);
  const since = await sameAnswerSince(deps.db, { taskId: run.taskId, answer, now });
  const hasResult = report.trim() !== "" || usage !== undefined || failureCause !== undefined;
  if (now - since < (hasResult ? UNKNOWN_IS_END_WITH_RESULT_MS : UNKNOWN_IS_END_MS)) return goesOn;
  const message = failureCause === undefined ? UNKNOWN_STATUS : failedMessage(interaction);
  return end(deps, run, { interaction, to: "failed", message, pollAgain: true });
}

/** Google rejects the request. Polling continues until the deadline in case a report arrives. */
async function rejected(deps: ResearchDeps, run: PolledRun): Promise<Outcome> {
  const needed = await missingSetting(deps, run);
  const ended = await pastDeadline(deps, run);
  if (ended !== undefined) return ended;
  if (needed !== undefined) return waitForSetting(deps, run, needed);
  const now = deps.clock.now();
  const since = await sameAnswerSince(deps.db, { taskId: run.taskId, answer: REJECTION, now });
  if (now - since < PERMANENT_REJECTION_MS) return obstructed(deps, run, { kind: "rejected" });
  if (run.status !== "running_async") return { next: { afterMs: UNKNOWN_AGAIN_MS } };
  const failed = failure(run, { code: "RESEARCH_FAILED", message: REJECTED }, now);
  return record(deps, run, { ...failed, nextPollAt: now + UNKNOWN_AGAIN_MS });
}

/** The run can only be read with the key and base URL it was started with; waits until they are set. */
async function waitForSetting(deps: ResearchDeps, run: PolledRun, needed: Obstacle): Promise<Outcome> {
  if (run.oddAnswer === REJECTION) await clearOddAnswer(deps.db, run.taskId);
  return { ...obstructed(deps, run, needed), next: { afterMs: WRONG_KEY_AGAIN_MS } };
}

/** Stores text that arrives after the run has ended here: it is paid for and may be longer than the stored text. */
async function keepText(deps: ResearchDeps, run: PolledRun, interaction: Interaction): Promise<void> {
  if (interaction.report.trim() === "" || isPlan(run)) return;
  const result = resultOrText(deps.log.forRun(run.taskId), interaction, { partial: true });
  await keepLaterText(deps.db, { run, result, raw: packRaw(interaction.raw, deps.redact), now: deps.clock.now() });
}

async function working(deps: ResearchDeps, run: PolledRun, interaction: Interaction): Promise<Outcome> {
  if (run.status === "cancelled") {
    await keepText(deps, run, interaction);
    return (await pastDeadline(deps, run)) ?? AGAIN;
  }
  const now = deps.clock.now();
  // Polls of a running interaction usually contain no thoughts or searches; then the last known action is kept.
  const thought = interaction.thoughts.at(-1);
  const last = thought === undefined ? oneLine(interaction.searches.at(-1) ?? "") : headingOf(thought);
  const currentAction = last === "" ? undefined : storable(last);
  const seen = changesOf(run, {
    progress: progressBySeen(run.model ?? "", {
      searches: interaction.searches.length,
      thoughts: interaction.thoughts.length,
    }),
    currentAction,
    changed: currentAction !== undefined && currentAction !== run.currentAction,
    ...(interaction.usage === undefined ? {} : usageOf(deps, run, interaction.usage)),
    now,
  });
  if (interaction.report !== "" && !isPlan(run)) {
    const result = resultOrText(deps.log.forRun(run.taskId), interaction, { partial: true });
    await savePartial(deps.db, run, { result, now });
  }
  return (await pastDeadline(deps, run)) ?? { next: "interval", seen };
}

/** Half a plan is of no use: the text of a plan is stored when it is complete. */
const isPlan = ({ part }: PolledRun): boolean => part === "plan";

/** The user cancelled the run while Google wrote the plan, which is paid for: it is kept, and not offered for approval. */
const endOfPlan = ({ cancelRequestedAt }: PolledRun): Ending =>
  cancelRequestedAt === undefined ? { to: "completed", warnings: [] } : { to: "cancelled" };

type Ending =
  | { to: "completed"; warnings: string[] }
  | { to: "cancelled" }
  /** `pollAgain`: the run may not have ended, so polling continues; only a finished report changes its state. */
  | { to: "failed"; message: string; pollAgain?: boolean };

const COMPLETED_AFTER_CANCEL = "It was cancelled, but Google finished it anyway. The report was charged and is kept.";

async function end(
  deps: ResearchDeps,
  run: PolledRun,
  { interaction, ...ending }: Ending & { interaction: Interaction },
): Promise<Outcome> {
  const now = deps.clock.now();
  // Usage so far is not the usage: Google may still be working on the run.
  const usage = ending.to === "failed" && ending.pollAgain === true ? undefined : interaction.usage;
  // What Google had written of a plan before it failed is kept in the raw response only.
  const isCut = isPlan(run) && interaction.status !== "completed";
  const ended = isCut ? { ...interaction, report: "", citations: [] } : interaction;
  const hasText = ended.report.trim() !== "";
  // The end was stored when the run was cancelled; only Google's confirmation was missing.
  const isConfirmation = run.status === "cancelled" && ending.to !== "completed";
  const to = isConfirmation ? "cancelled" : ending.to;
  const note = to === "completed" && run.cancelRequestedAt !== undefined ? COMPLETED_AFTER_CANCEL : undefined;
  const warnings = ending.to === "completed" ? ending.warnings : [];
  const about = { partial: to !== "completed", note, warnings };
  const result = hasText || to === "failed" ? resultOrText(deps.log.forRun(run.taskId), ended, about) : undefined;
  return record(deps, run, {
    run,
    to,
    confirmsCancel: isConfirmation,
    result: result !== undefined && to === "completed" ? await withTable(deps, run, result) : result,
    raw: packRaw(interaction.raw, deps.redact),
    error: to === "failed" && ending.to === "failed" ? { code: "RESEARCH_FAILED", message: ending.message } : undefined,
    ...(usage === undefined ? {} : usageOf(deps, run, usage)),
    usage,
    usageFinal: usage !== undefined,
    ...polledUntil(run, { ending, to, usage, now }),
    now,
    ...(to === "cancelled" ? { cancelConfirmed: true } : {}),
  });
}

const UNKNOWN_AGAIN_MS = 60_000;

/** When it is polled next, and until when a report may arrive; of a plan, until when it can be approved. */
function polledUntil(
  run: PolledRun,
  { ending, to, usage, now }: { ending: Ending; to: Ending["to"]; usage: Interaction["usage"]; now: number },
): Pick<AgentFinish, "deadlineAt" | "nextPollAt"> {
  if (ending.to === "failed" && ending.pollAgain === true) return { nextPollAt: now + UNKNOWN_AGAIN_MS };
  const nextPollAt = usage === undefined ? now + MIN_USAGE_INTERVAL_MS : undefined;
  if (to === "completed") return { nextPollAt, deadlineAt: isPlan(run) ? now + MIN_RETENTION_MS : undefined };
  return { nextPollAt, deadlineAt: nextPollAt === undefined ? undefined : now };
}

interface RecordedEnd extends AgentFinish {
  usage?: Interaction["usage"];
}

/** If the database rejects a completed report, it is written to a file and the next poll retries. */
async function record(deps: ResearchDeps, run: PolledRun, { usage, ...finish }: RecordedEnd): Promise<Outcome> {
  failpoint("before-finish");
  try {
    const decided = await finishAgentRun(deps.db, finish);
    failpoint("after-finish");
    // Another process or the user has ended the run; the next poll reads its new state.
    if (!decided) return run.status === "running_async" ? AGAIN : pollForMissingUsage(deps, run);
    const { nextPollAt, now } = finish;
    return { next: nextPollAt === undefined ? "never" : { afterMs: nextPollAt - now }, recorded: true };
  } catch (error) {
    if (finish.to !== "completed" || finish.result === undefined) throw error;
    const path = await deps.backUp(run, finish.result.report, usage);
    deps.log
      .forRun(run.taskId)
      .error(
        path === undefined
          ? `Run ${run.taskId} is complete, but neither the database nor a file could be written. Retrying; free some disk space.`
          : `Run ${run.taskId} is complete, but the database refused the report. It is kept in ${path}; retrying.`,
      );
    return AGAIN;
  }
}

async function inaccessible(deps: ResearchDeps, run: PolledRun, kind: "missing" | "forbidden"): Promise<Outcome> {
  const now = deps.clock.now();
  const needed = await missingSetting(deps, run);
  if (needed !== undefined) return (await pastDeadline(deps, run)) ?? waitForSetting(deps, run, needed);
  if (kind === "forbidden") return (await pastDeadline(deps, run)) ?? obstructed(deps, run, { kind: "forbidden" });
  if (!(await canHaveExpired(deps, run))) return (await pastDeadline(deps, run)) ?? againLater(deps, run, "missing");
  if (run.status !== "running_async") return NEVER;
  return record(deps, run, failure(run, { code: "RESEARCH_FAILED", message: EXPIRED }, now));
}

/**
 * Ends a run at its deadline, which persists across restarts (I11). The interaction at Google is not cancelled: for some
 * hours it is polled for its usage, and a report that is found is the result.
 */
async function pastDeadline(deps: ResearchDeps, run: PolledRun): Promise<Outcome | undefined> {
  const now = deps.clock.now();
  if (now < run.deadlineAt) return undefined;
  if (run.status !== "running_async") return pollForMissingUsage(deps, run);
  const hours = Math.round((run.deadlineAt - run.createdAt) / 360_000) / 10;
  const message = `The research timed out: it was not finished after ${hours} hours. It can be checked again.`;
  const failed = failure(run, { code: "RESEARCH_FAILED", message }, now);
  return record(deps, run, { ...failed, nextPollAt: now + MIN_USAGE_INTERVAL_MS });
}

const obstructed = ({ clock }: ResearchDeps, run: PolledRun, obstacle: Obstacle): Outcome => ({
  next: "interval",
  seen: changesOf(run, { progress: run.progress, obstacle, changed: false, now: clock.now() }),
});
