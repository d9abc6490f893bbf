/** Polls one background run, applies the answer and returns what is next. What Google answers wins; what was paid for is kept. */

import type { Interaction } from "../../gemini/research-agent.ts";
import { countAgentRun, countAgentUsage } from "../../gemini/call-telemetry.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { resultOf } from "./agent-result.ts";
import { type AgentFinish, finishAgentRun, keepLaterText } from "./poll-result-store.ts";
import { ask } from "./ask.ts";
import { actionOf, NOTES } from "./current-action.ts";
import { endedEarlyMessage, EXPIRED, failedMessage, NO_REPORT, REJECTED, UNKNOWN_STATUS } from "./endings.ts";
import type { FollowedRun } from "./followed-run.ts";
import { LATE_USAGE_MS, pollForUsage } from "./late-usage.ts";
import { missingSetting } from "./missing-setting.ts";
import { forgetOddAnswer, REJECTION, sameAnswerSince } from "./odd-answer-store.ts";
import { AGAIN, NEVER, type Outcome, type Patience, RATE_LIMIT_MS } from "./outcome.ts";
import { changesOf } from "./seen-store.ts";
import { progressBySearches } from "../progress.ts";
import type { ResearchDeps } from "../deps.ts";
import { savePartial } from "../result-store.ts";

const WRONG_KEY_AGAIN_MS = 60_000;
/** A request that Google rejects for so long will not be accepted: 400 was seen to stay after minutes of 403. */
const REJECTED_FOR_GOOD_MS = 10 * 60_000;
/** A status of an unknown name is an end when nothing changes for so long; sooner when what only an end has is there. */
const UNKNOWN_IS_END_MS = 30 * 60_000;
const UNKNOWN_IS_END_WITH_RESULT_MS = 2 * 60_000;
const TOO_LONG_AGAIN_MS = 10 * 60_000;

export async function pollRun(deps: ResearchDeps, run: FollowedRun, patience: Patience = "patient"): Promise<Outcome> {
  if (run.status === "completed") return pollForUsage(deps, run, patience);
  const look = await ask(deps, run, patience);
  failpoint("after-look");
  if (deps.leaving.aborted && look !== "slow" && look.kind === "unreachable") return { next: { afterMs: 0 } };
  if (look === "slow") return { next: "slow" };
  if (look.kind !== "rejected" && run.oddAnswer === REJECTION) await forgetOddAnswer(deps.db, run.taskId);
  switch (look.kind) {
    case "found":
      return found(deps, run, look.interaction);
    case "missing":
    case "forbidden":
      return gone(deps, run, look.kind);
    case "rate_limited":
      return (await pastDeadline(deps, run)) ?? { next: "interval", pauseMs: look.retryAfterMs ?? RATE_LIMIT_MS };
    case "too_long":
      return (await pastDeadline(deps, run)) ?? tooLong(deps, run);
    case "unreachable":
      deps.log.forRun(run.taskId).debug(`Run ${run.taskId}: ${look.error.message}`);
      return (await pastDeadline(deps, run)) ?? note(deps, run, NOTES.unreachable);
    default:
      return rejected(deps, run);
  }
}

/** A run whose key no process has: its user reads what it waits for. At its deadline it is asked about with this one. */
export async function waitForKey(deps: ResearchDeps, run: FollowedRun): Promise<Outcome> {
  if (deps.clock.now() >= run.deadlineAt) return pollRun(deps, run);
  const needed = await missingSetting(deps, run);
  return needed === undefined ? AGAIN : note(deps, run, needed);
}

/** Once may be a hiccup of a gateway; a run that has the note already has time. */
function tooLong(deps: ResearchDeps, run: FollowedRun): Outcome {
  if (run.currentAction === NOTES.tooLong) return { next: { afterMs: TOO_LONG_AGAIN_MS } };
  return note(deps, run, NOTES.tooLong);
}

async function found(deps: ResearchDeps, run: FollowedRun, interaction: Interaction): Promise<Outcome> {
  const text = interaction.report.trim();
  // Looked at again after it had failed here: only a finished report changes that.
  if (run.status === "failed" && (interaction.status !== "completed" || text === "")) {
    await keepText(deps, run, interaction);
    const isOpen = interaction.status === "working" || interaction.status === "unknown";
    const goesOn = isOpen && deps.clock.now() < run.deadlineAt;
    return goesOn ? AGAIN : NEVER;
  }
  if (interaction.status !== "unknown" && run.oddAnswer !== undefined) await forgetOddAnswer(deps.db, run.taskId);
  switch (interaction.status) {
    case "working":
      return working(deps, run, interaction);
    case "unknown":
      return unknownStatus(deps, run, interaction);
    case "completed":
      if (text !== "") return end(deps, run, { interaction, to: "completed" });
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
 * It may be an end or a new kind of work. A run that works shows its head only; text, usage or errors that do not
 * change are what an end has. Until the deadline it is polled on: if a report comes after all, it is recorded.
 */
async function unknownStatus(deps: ResearchDeps, run: FollowedRun, interaction: Interaction): Promise<Outcome> {
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

/** Google does not accept the request any more. Until the deadline it is polled on: a report may come after all. */
async function rejected(deps: ResearchDeps, run: FollowedRun): Promise<Outcome> {
  const needed = await missingSetting(deps, run);
  const ended = await pastDeadline(deps, run, needed === undefined ? undefined : "followed");
  if (ended !== undefined) return ended;
  if (needed !== undefined) return waitForSetting(deps, run, needed);
  const now = deps.clock.now();
  const since = await sameAnswerSince(deps.db, { taskId: run.taskId, answer: REJECTION, now });
  if (now - since < REJECTED_FOR_GOOD_MS) return note(deps, run, NOTES.rejected);
  if (run.status !== "running_async") return { next: { afterMs: UNKNOWN_AGAIN_MS } };
  const failed = failure(run, { code: "RESEARCH_FAILED", message: REJECTED }, now);
  return record(deps, run, { ...failed, nextPollAt: now + UNKNOWN_AGAIN_MS });
}

/** Another key or address gets no answer about this run: it waits for the one that it was started with. */
async function waitForSetting(deps: ResearchDeps, run: FollowedRun, needed: string): Promise<Outcome> {
  if (run.oddAnswer === REJECTION) await forgetOddAnswer(deps.db, run.taskId);
  return { ...note(deps, run, needed), next: { afterMs: WRONG_KEY_AGAIN_MS } };
}

/** Text of a run that has ended here: it was paid for, and may be longer than what is stored. */
async function keepText(deps: ResearchDeps, run: FollowedRun, interaction: Interaction): Promise<void> {
  if (interaction.report.trim() === "") return;
  const result = resultOf(interaction, { partial: true });
  await keepLaterText(deps.db, { run, result, raw: interaction.raw, now: deps.clock.now() });
}

async function working(deps: ResearchDeps, run: FollowedRun, interaction: Interaction): Promise<Outcome> {
  if (run.status === "cancelled") {
    await keepText(deps, run, interaction);
    return (await pastDeadline(deps, run)) ?? AGAIN;
  }
  const now = deps.clock.now();
  const { usage, searches } = interaction;
  const action = await actionOf(deps.db, run, interaction);
  const seen = changesOf(run, {
    // Not what time alone moves on: that is computed when it is read.
    progress: progressBySearches(run.agent, searches.length),
    currentAction: action.text,
    changed: action.changed,
    tokens: usage,
    cost: usage === undefined ? undefined : deps.costOf(usage, run.agent, run.createdAt),
    now,
  });
  if (interaction.report !== "") {
    await savePartial(deps.db, run, { result: resultOf(interaction, { partial: true }), now });
  }
  return (await pastDeadline(deps, run)) ?? { next: "interval", seen };
}

type Ending =
  | { to: "completed" | "cancelled" }
  /** `pollAgain`: it may not be the end; only a finished report changes that. */
  | { to: "failed"; message: string; pollAgain?: boolean };

const AFTER_ALL = "It was cancelled, but Google finished it all the same. The report was paid for and is kept.";

async function end(
  deps: ResearchDeps,
  run: FollowedRun,
  { interaction, ...ending }: Ending & { interaction: Interaction },
): Promise<Outcome> {
  const now = deps.clock.now();
  const { usage } = interaction;
  const hasText = interaction.report.trim() !== "";
  // Its end was recorded already; only Google's word was missing.
  const isConfirmation = run.status === "cancelled" && ending.to !== "completed";
  const to = isConfirmation ? "cancelled" : ending.to;
  const note = to === "completed" && run.cancelRequestedAt !== undefined ? AFTER_ALL : undefined;
  return record(deps, run, {
    run,
    to,
    ...(isConfirmation ? { from: ["cancelled"] } : {}),
    result: hasText || to === "failed" ? resultOf(interaction, { partial: to !== "completed", note }) : undefined,
    raw: interaction.raw,
    error: to === "failed" && ending.to === "failed" ? { code: "RESEARCH_FAILED", message: ending.message } : undefined,
    tokens: usage,
    cost: usage === undefined ? undefined : deps.costOf(usage, run.agent, run.createdAt),
    usageFinal: usage !== undefined,
    nextPollAt: nextPollAfter(ending, { usage, to, now }),
    now,
    ...(to === "cancelled" ? { cancelConfirmed: true } : {}),
  });
}

const UNKNOWN_AGAIN_MS = 60_000;

function nextPollAfter(
  ending: Ending,
  { usage, to, now }: { usage: Interaction["usage"]; to: Ending["to"]; now: number },
): number | undefined {
  if (ending.to === "failed" && ending.pollAgain === true) return now + UNKNOWN_AGAIN_MS;
  return usage === undefined && to === "completed" ? now + LATE_USAGE_MS : undefined;
}

/** The database may refuse the very end: then the report goes to a file, and the next look tries again. */
async function record(deps: ResearchDeps, run: FollowedRun, finish: AgentFinish): Promise<Outcome> {
  failpoint("before-finish");
  try {
    const decided = await finishAgentRun(deps.db, finish);
    failpoint("after-finish");
    // Another process or the user has decided: the next poll sees what became of the run.
    if (!decided) return AGAIN;
    measured(run, finish);
    const { nextPollAt, now } = finish;
    return { next: nextPollAt === undefined ? "never" : { afterMs: nextPollAt - now }, recorded: true };
  } catch (error) {
    if (finish.to !== "completed" || finish.result === undefined) throw error;
    const path = await deps.backUp(run, finish.result.report);
    deps.log
      .forRun(run.taskId)
      .error(
        path === undefined
          ? `Run ${run.taskId} is complete, but neither the database nor a file could be written. It is tried again; free some disk space.`
          : `Run ${run.taskId} is complete, but the database refused the report. It is kept in ${path}; the database is tried again.`,
      );
    return AGAIN;
  }
}

/** Who did not decide the end does not count it: another process has. */
function measured(run: FollowedRun, { to, tokens, cost, now }: AgentFinish): void {
  if (run.status !== to) countAgentRun({ agent: run.agent, lastedMs: now - run.createdAt, failed: to === "failed" });
  if (tokens !== undefined) countAgentUsage(run.agent, tokens, cost?.usd);
}

async function gone(deps: ResearchDeps, run: FollowedRun, kind: "missing" | "forbidden"): Promise<Outcome> {
  const now = deps.clock.now();
  const needed = await missingSetting(deps, run);
  if (needed !== undefined) return (await pastDeadline(deps, run, "followed")) ?? waitForSetting(deps, run, needed);
  if (kind === "forbidden") return (await pastDeadline(deps, run)) ?? note(deps, run, NOTES.forbidden);
  if (run.status !== "running_async") return NEVER;
  return record(deps, run, failure(run, { code: "RESEARCH_FAILED", message: EXPIRED }, now));
}

const failure = (run: FollowedRun, error: { code: string; message: string }, now: number): AgentFinish => ({
  run,
  to: "failed",
  result: undefined,
  raw: undefined,
  error,
  tokens: undefined,
  cost: undefined,
  usageFinal: false,
  nextPollAt: undefined,
  now,
});

/**
 * I11: our own deadline counts across restarts. Google is not cancelled: its report may still be collected, and is as
 * soon as there is the key for a run that stays followed.
 */
async function pastDeadline(
  deps: ResearchDeps,
  run: FollowedRun,
  afterwards?: "followed",
): Promise<Outcome | undefined> {
  const now = deps.clock.now();
  if (now < run.deadlineAt) return undefined;
  if (run.status !== "running_async") return NEVER;
  const hours = Math.round((run.deadlineAt - run.createdAt) / 360_000) / 10;
  const message = `The research timed out: it was not finished after ${hours} hours. resume_research looks again.`;
  const failed = failure(run, { code: "RESEARCH_FAILED", message }, now);
  return record(deps, run, afterwards === undefined ? failed : { ...failed, nextPollAt: now + WRONG_KEY_AGAIN_MS });
}

const note = (deps: ResearchDeps, run: FollowedRun, currentAction: string): Outcome => ({
  next: "interval",
  seen: changesOf(run, {
    progress: run.progress,
    currentAction,
    changed: false,
    tokens: undefined,
    cost: undefined,
    now: deps.clock.now(),
  }),
});
