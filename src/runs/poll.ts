/** Polls one background run and applies the answer. What Google says wins; what was paid for is kept. */

import { AppError } from "../errors.ts";
import type { Interaction, Look } from "../gemini/agent.ts";
import { countAgentRun, countAgentUsage } from "../gemini/observed.ts";
import { failpoint } from "../platform/failpoint.ts";
import { resultOf } from "./agent-result.ts";
import { type ClaimedRun, pauseAllPolls, pollAgainAt } from "./claim-store.ts";
import { type AgentFinish, finishAgentRun, keepLaterText, recordSeen } from "./follow-store.ts";
import { actionOf, NOTES } from "./polling/current-action.ts";
import { endedEarlyMessage, EXPIRED, failedMessage, NO_REPORT, REJECTED, UNKNOWN_STATUS } from "./polling/endings.ts";
import { LATE_USAGE_MS, pollForUsage } from "./polling/late-usage.ts";
import { missingSetting } from "./polling/missing-setting.ts";
import { forgetOddAnswer, forgetRejections, REJECTION, sameAnswerSince } from "./polling/odd-answer-store.ts";
import { progressOf } from "./progress.ts";
import type { ResearchDeps } from "./research.ts";
import { savePartial } from "./result-store.ts";

/** A 404 may be a hiccup: only one that stays over this many looks, about ten seconds, is believed. */
const LOOKS_BEFORE_EXPIRED = 3;
const BETWEEN_MISSES_MS = 4_500;
const WRONG_KEY_AGAIN_MS = 60_000;
const RATE_LIMIT_MS = 30_000;
/** A request that Google rejects for so long will not be accepted: 400 was seen to stay after minutes of 403. */
const REJECTED_FOR_GOOD_MS = 10 * 60_000;
/** A status of an unknown name is an end when nothing changes for so long; sooner when what only an end has is there. */
const UNKNOWN_IS_END_MS = 30 * 60_000;
const UNKNOWN_IS_END_WITH_RESULT_MS = 2 * 60_000;
const TOO_LONG_AGAIN_MS = 10 * 60_000;
/** Looks at a run that seems gone end well before the lease does: another look may take 45 s. */
const MISSES_WITHIN_MS = 10_000;

export async function pollRun(deps: ResearchDeps, run: ClaimedRun): Promise<void> {
  if (run.status === "completed") return pollForUsage(deps, run);
  const look = await ask(deps, run);
  failpoint("after-look");
  if (look.kind !== "rejected") await forgetRejections(deps.db, run.taskId);
  switch (look.kind) {
    case "found":
      return found(deps, run, look.interaction);
    case "missing":
    case "forbidden":
      return gone(deps, run, look.kind);
    case "rate_limited":
      if (await pastDeadline(deps, run)) return undefined;
      return pauseAllPolls(
        deps.db,
        { ms: look.retryAfterMs ?? RATE_LIMIT_MS, now: deps.clock.now() },
        deps.agent.fingerprint.key,
      );
    case "too_long":
      if (await pastDeadline(deps, run)) return undefined;
      await note(deps, run, NOTES.tooLong);
      // Once may be a hiccup of a gateway; who is told so again has time.
      if (run.currentAction !== NOTES.tooLong) return undefined;
      return pollAgainAt(deps.db, run, deps.clock.now() + TOO_LONG_AGAIN_MS);
    case "unreachable":
      deps.log.forRun(run.taskId).debug(`Run ${run.taskId}: ${look.error.message}`);
      if (await pastDeadline(deps, run)) return undefined;
      return note(deps, run, NOTES.unreachable);
    case "rejected":
      return rejected(deps, run);
  }
}

/** A 404 that took its time is asked about again with the next look, under a lease of its own. */
const NOT_SURE: Look = {
  kind: "unreachable",
  error: new AppError({ code: "GEMINI_UNAVAILABLE", message: "Google is slow to say whether it has this run." }),
};

/** A cancel that was asked for goes out before the look: it may be repeated safely. */
async function ask(deps: ResearchDeps, run: ClaimedRun): Promise<Look> {
  if (run.cancelRequestedAt !== undefined && (run.status === "running_async" || run.status === "cancelled")) {
    await deps.agent.cancel(run.interactionId, deps.leaving);
  }
  const began = deps.clock.now();
  let look = await deps.agent.look(run.interactionId, deps.leaving);
  for (let misses = 1; look.kind === "missing" && misses < LOOKS_BEFORE_EXPIRED; misses += 1) {
    if ((await missingSetting(deps, run)) !== undefined) return look;
    if (deps.clock.now() - began + BETWEEN_MISSES_MS > MISSES_WITHIN_MS) return NOT_SURE;
    await deps.clock.sleep(BETWEEN_MISSES_MS, deps.leaving);
    look = await deps.agent.look(run.interactionId, deps.leaving);
  }
  return look;
}

async function found(deps: ResearchDeps, run: ClaimedRun, interaction: Interaction): Promise<void> {
  const text = interaction.report.trim();
  // Looked at again after it had failed here: only a finished report changes that.
  if (run.status === "failed" && (interaction.status !== "completed" || text === "")) {
    await keepText(deps, run, interaction);
    const isOpen = interaction.status === "working" || interaction.status === "unknown";
    const goesOn = isOpen && deps.clock.now() < run.deadlineAt;
    return goesOn ? undefined : pollAgainAt(deps.db, run, null);
  }
  if (interaction.status !== "unknown") await forgetOddAnswer(deps.db, run.taskId);
  switch (interaction.status) {
    case "working":
      return working(deps, run, interaction);
    case "unknown":
      return unknownStatus(deps, run, interaction);
    case "completed":
      if (text !== "") return end(deps, run, interaction, { to: "completed" });
      return end(deps, run, interaction, { to: "failed", message: NO_REPORT });
    case "cancelled":
      return end(deps, run, interaction, { to: "cancelled" });
    case "failed":
      return end(deps, run, interaction, { to: "failed", message: failedMessage(interaction) });
    case "ended_early":
      return end(deps, run, interaction, { to: "failed", message: endedEarlyMessage(interaction) });
  }
}

/**
 * It may be an end or a new kind of work. A run that works shows its head only; text, usage or errors that do not
 * change are what an end has. Until the deadline it is polled on: if a report comes after all, it is recorded.
 */
async function unknownStatus(deps: ResearchDeps, run: ClaimedRun, interaction: Interaction): Promise<void> {
  await working(deps, run, interaction);
  const now = deps.clock.now();
  if (run.status !== "running_async" || now >= run.deadlineAt) return undefined;
  const { rawStatus, report, usage, failureCause, thoughts, searches } = interaction;
  const facts = [rawStatus, report.length, usage?.input, usage?.output, failureCause, thoughts.length, searches.length];
  const answer = JSON.stringify(facts).slice(0, 500);
  const since = await sameAnswerSince(deps.db, { taskId: run.taskId, answer, now });
  const hasResult = report.trim() !== "" || usage !== undefined || failureCause !== undefined;
  if (now - since < (hasResult ? UNKNOWN_IS_END_WITH_RESULT_MS : UNKNOWN_IS_END_MS)) return undefined;
  const message = failureCause === undefined ? UNKNOWN_STATUS : failedMessage(interaction);
  return end(deps, run, interaction, { to: "failed", message, pollAgain: true });
}

/** Google does not accept the request any more. Until the deadline it is polled on: a report may come after all. */
async function rejected(deps: ResearchDeps, run: ClaimedRun): Promise<void> {
  if (await pastDeadline(deps, run)) return undefined;
  const needed = await missingSetting(deps, run);
  if (needed !== undefined) return waitForSetting(deps, run, needed);
  const now = deps.clock.now();
  const since = await sameAnswerSince(deps.db, { taskId: run.taskId, answer: REJECTION, now });
  await note(deps, run, NOTES.rejected);
  if (now - since < REJECTED_FOR_GOOD_MS) return undefined;
  if (run.status !== "running_async") return pollAgainAt(deps.db, run, now + UNKNOWN_AGAIN_MS);
  const ended = failure(run, { code: "RESEARCH_FAILED", message: REJECTED }, now);
  return record(deps, run, { ...ended, nextPollAt: now + UNKNOWN_AGAIN_MS });
}

/** Another key or address gets no answer about this run: it waits for the one that it was started with. */
async function waitForSetting(deps: ResearchDeps, run: ClaimedRun, needed: string): Promise<void> {
  await forgetRejections(deps.db, run.taskId);
  await note(deps, run, needed);
  return pollAgainAt(deps.db, run, deps.clock.now() + WRONG_KEY_AGAIN_MS);
}

/** Text of a run that has ended here: it was paid for, and may be longer than what is stored. */
async function keepText(deps: ResearchDeps, run: ClaimedRun, interaction: Interaction): Promise<void> {
  if (interaction.report.trim() === "") return;
  const result = resultOf(interaction, { partial: true });
  await keepLaterText(deps.db, { run, result, raw: interaction.raw, now: deps.clock.now() });
}

async function working(deps: ResearchDeps, run: ClaimedRun, interaction: Interaction): Promise<void> {
  if (run.status === "cancelled") {
    await keepText(deps, run, interaction);
    return void (await pastDeadline(deps, run));
  }
  const now = deps.clock.now();
  const { usage, searches } = interaction;
  const action = await actionOf(deps.db, run, interaction);
  await recordSeen(deps.db, run.taskId, {
    progress: progressOf({ agent: run.agent, elapsedMs: now - run.createdAt, searches: searches.length }),
    currentAction: action.text,
    // Not the progress, which time alone moves on.
    changed: action.changed,
    tokens: usage,
    cost: usage === undefined ? undefined : deps.costOf(usage, run.agent, run.createdAt),
    now,
  });
  if (interaction.report !== "") await savePartial(deps.db, run, resultOf(interaction, { partial: true }), now);
  await pastDeadline(deps, run);
}

type Ending =
  | { to: "completed" | "cancelled" }
  /** `pollAgain`: it may not be the end; only a finished report changes that. */
  | { to: "failed"; message: string; pollAgain?: boolean };

const AFTER_ALL = "It was cancelled, but Google finished it all the same. The report was paid for and is kept.";

async function end(deps: ResearchDeps, run: ClaimedRun, interaction: Interaction, ending: Ending): Promise<void> {
  const now = deps.clock.now();
  const { usage } = interaction;
  const hasText = interaction.report.trim() !== "";
  // Its end was recorded already; only Google's word was missing.
  const isConfirmation = run.status === "cancelled" && ending.to !== "completed";
  const to = isConfirmation ? "cancelled" : ending.to;
  const note = to === "completed" && run.cancelRequestedAt !== undefined ? AFTER_ALL : undefined;
  await record(deps, run, {
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
async function record(deps: ResearchDeps, run: ClaimedRun, finish: AgentFinish): Promise<void> {
  failpoint("before-finish");
  try {
    const decided = await finishAgentRun(deps.db, finish);
    failpoint("after-finish");
    if (decided) measured(run, finish);
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
  }
}

/** Who did not decide the end does not count it: another process has. */
function measured(run: ClaimedRun, { to, tokens, cost, now }: AgentFinish): void {
  if (run.status !== to) countAgentRun({ agent: run.agent, lastedMs: now - run.createdAt, failed: to === "failed" });
  if (tokens !== undefined) countAgentUsage(run.agent, tokens, cost?.usd);
}

async function gone(deps: ResearchDeps, run: ClaimedRun, kind: "missing" | "forbidden"): Promise<void> {
  const now = deps.clock.now();
  const needed = await missingSetting(deps, run);
  if (needed !== undefined) {
    if (await pastDeadline(deps, run)) return undefined;
    return waitForSetting(deps, run, needed);
  }
  if (kind === "forbidden") {
    if (await pastDeadline(deps, run)) return undefined;
    return note(deps, run, NOTES.forbidden);
  }
  if (run.status !== "running_async") return pollAgainAt(deps.db, run, null);
  return record(deps, run, failure(run, { code: "RESEARCH_FAILED", message: EXPIRED }, now));
}

const failure = (run: ClaimedRun, error: { code: string; message: string }, now: number): AgentFinish => ({
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

/** I11: our own deadline counts across restarts. Google is not cancelled: its report may still be collected. */
async function pastDeadline(deps: ResearchDeps, run: ClaimedRun): Promise<boolean> {
  const now = deps.clock.now();
  if (now < run.deadlineAt) return false;
  if (run.status !== "running_async") {
    await pollAgainAt(deps.db, run, null);
    return true;
  }
  const hours = Math.round((run.deadlineAt - run.createdAt) / 360_000) / 10;
  const message = `The research timed out: it was not finished after ${hours} hours. resume_research looks again.`;
  await record(deps, run, failure(run, { code: "RESEARCH_FAILED", message }, now));
  return true;
}

const note = (deps: ResearchDeps, run: ClaimedRun, currentAction: string): Promise<void> =>
  recordSeen(deps.db, run.taskId, {
    progress: run.progress,
    currentAction,
    changed: false,
    tokens: undefined,
    cost: undefined,
    now: deps.clock.now(),
  });
