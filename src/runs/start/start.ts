/**
 * Starts paid runs. The API has no idempotency key and cannot list interactions: the intent is committed before the
 * request is sent, at most one request is accepted, and an unknown outcome is reported to the user, not retried.
 */

import type { AppError } from "../../errors.ts";
import { materialToSend, type RequestVariant, type SentFile, type StartOutcome } from "../../gemini/research-agent.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { newStartIds } from "../attempt-store.ts";
import { canHaveExpired } from "../poll/ask.ts";
import { flushUnchargedFailures, guardLostCommit } from "../recovery/unsettled-starts.ts";
import { joinKeyOf } from "./duplicate-start-store.ts";
import { fallBackToStoredReport, type Followup } from "./fallback.ts";
import { maxWaitOf, optionsOf, storedVariant } from "./start-options.ts";
import type { ResearchDeps } from "../deps.ts";
import { releaseFiles } from "../file-store.ts";
import { loadMaterial } from "./load-material.ts";
import { checkBeforeSending, refusalWhenLeaving, refuseBeforeIntent } from "./check-before-sending.ts";
import { saveId } from "./save-id.ts";
import type { CheckCost } from "./limits-store.ts";
import type { Run, RunPart } from "../run.ts";
import type { Occurrence } from "../schedules/schedule.ts";
import { type CarriedOn, commitIntent, type Intent, recordStartFailure, type StartFailure } from "./start-store.ts";

type Given = "client" | "enableNotifications" | "owner" | "parentTaskId" | "query" | "title";

export interface StartRequest extends Pick<Run, Given> {
  agent: string;
  /** Undefined without a price. */
  estimate: Run["estimate"] | undefined;
  maxWaitMs: number;
  /** Maximum time that the call waits for the run to end. */
  callerWaitsMs?: number | undefined;
  forceNew: boolean;
  /** Chosen when the user was asked: a start with the id of a stored run joins it, whatever `forceNew` says. */
  taskId?: string | undefined;
  checkCost?: CheckCost | undefined;
  variant?: RequestVariant | undefined;
  /** What the caller wished of the answer, as it is shown; the request itself has it in its input. */
  wishes?: object | undefined;
  /** The contents of the files in the variant's material. */
  files?: readonly SentFile[] | undefined;
  /** Present when the run is a follow-up on its parent. */
  followup?: Followup | undefined;
  /** The completed run whose answer was of no use: this start does not join it. */
  insteadOf?: string | undefined;
  /** The notice shown to the user at the start, stored for callers that read the result later. */
  notice?: string | undefined;
  /** The occurrence of a schedule that it starts. */
  occurrence?: Occurrence | undefined;
  /** Aborted when the call is cancelled. Prevents the paid request if it was not sent yet; no effect afterwards. */
  signal?: AbortSignal | undefined;
}

export type Started = { kind: "joined"; taskId: string } | { kind: "started"; taskId: string; sending: Sending };

/** Resolves when the outcome of the request is stored, or could not be stored: with the failure if it was not accepted. */
export type Sending = Promise<StartFailure | undefined>;

export async function startResearch(deps: ResearchDeps, request: StartRequest): Promise<Started> {
  refuseBeforeIntent(deps, request.signal);
  // A start that failed uncharged and will not be sent must not be joined.
  await flushUnchargedFailures(deps);
  const { owner, query, agent, parentTaskId, followup } = request;
  const joinKey = joinKeyOf({ ...request, followupOn: followup && parentTaskId });
  const { client, title, files, estimate = {}, enableNotifications, maxWaitMs, callerWaitsMs, occurrence } = request;
  const intent = { owner, client, query, title, agent, parentTaskId, files, estimate, joinKey, occurrence };
  const times = { enableNotifications, maxWaitMs, callerWaitsMs };
  const kind = { part: partOf(request), followupContext: followup?.context, options: optionsOf(request) };
  const begun = await begin(deps, { ...intent, ...times, ...kind }, { ...request, join: !request.forceNew });
  if (begun.kind === "decided") throw new Error("A new conversation carries on no run.");
  return begun;
}

function partOf({ variant, followup }: StartRequest): RunPart {
  if (variant?.collaborativePlanning === true) return "plan";
  if (followup === undefined) return "question";
  return variant?.columns === undefined ? "followup" : "table";
}

interface CarryingOn extends Pick<StartRequest, "callerWaitsMs" | "checkCost" | "estimate" | "followup" | "signal"> {
  /** The state of the run that the user decided on. */
  from: CarriedOn["from"];
  part: RunPart;
  variant: RequestVariant | undefined;
}

/**
 * Sends what the user decided on a run: its plan changed or carried out, or an unknown start once more. Undefined if the
 * decision on this run was made before; nothing is sent then.
 */
export async function startCarryingOn(
  deps: ResearchDeps,
  run: Run,
  { from, part, estimate = {}, callerWaitsMs, ...sent }: CarryingOn,
): Promise<{ taskId: string; sending: Sending } | undefined> {
  refuseBeforeIntent(deps, sent.signal);
  const { owner, client, query, model: agent = "", parentTaskId, followupContext, enableNotifications } = run;
  const intent = { owner, client, query, agent, parentTaskId, followupContext, enableNotifications, estimate, part };
  const options = { ...run.options, variant: storedVariant(sent.variant, followupContext !== undefined) };
  const more = { options, carriesOn: { taskId: run.taskId, from }, maxWaitMs: maxWaitOf(options), callerWaitsMs };
  const begun = await begin(deps, { ...intent, ...more }, { ...sent, join: false });
  return begun.kind === "started" ? begun : undefined;
}

interface Beginning extends Pick<StartRequest, "checkCost" | "followup" | "signal" | "taskId" | "variant"> {
  /** An identical start of the last minutes is joined. */
  join: boolean;
}

/** Commits the intent, then sends it. */
async function begin(
  deps: ResearchDeps,
  intent: Omit<Intent, "keyFingerprint" | "baseUrl" | "processId" | "now">,
  { join, taskId, checkCost, signal, ...sent }: Beginning,
): Promise<Started | { kind: "decided" }> {
  const { key: keyFingerprint, baseUrl } = deps.agent.fingerprint;
  const whole = { ...intent, keyFingerprint, baseUrl, processId: deps.processId, now: deps.clock.now() };
  const ids = { ...newStartIds(), ...(taskId === undefined ? {} : { taskId }) };
  const check: CheckCost = (budgets, maxUsd) => {
    refuseBeforeIntent(deps, signal);
    return checkCost?.(budgets, maxUsd) ?? false;
  };
  const admission = { join, once: taskId !== undefined, limits: deps.limits, ids, checkCost: check };
  const outcome = await guardLostCommit(deps, ids, () => commitIntent(deps.db, whole, admission));
  if (outcome.kind !== "intended") return outcome;
  failpoint("after-intent");
  const { run, attemptId } = outcome;
  return { kind: "started", taskId: run.taskId, sending: sendAttempt(deps, { run, attemptId, signal, ...sent }) };
}

/** Sends an attempt whose intent is committed, and stores its outcome. */
const sendAttempt = (deps: ResearchDeps, attempt: Attempt): Sending => deps.during(send(deps, attempt));

interface Attempt {
  run: Run;
  attemptId: string;
  variant?: RequestVariant | undefined;
  followup?: Followup | undefined;
  signal?: AbortSignal | undefined;
}

/** Limits for sending a request again after a failure that was certainly not charged. */
const MAX_SENDS = 3;
const MAX_SENDING_MS = 20_000;
/** Applies even to a Retry-After of 0: a rate limit that was just exceeded is not reset immediately. */
const MIN_PAUSE_MS = 1_000;

async function send(deps: ResearchDeps, attempt: Attempt): Sending {
  const failure = await sendUntilSettled(deps, attempt);
  // A command ends now, and its files need not wait for the sweep of another process.
  if (attempt.variant?.material?.files !== undefined) await releaseFiles(deps.db).catch(() => undefined);
  return failure;
}

async function sendUntilSettled(deps: ResearchDeps, attempt: Attempt): Sending {
  const { clock } = deps;
  const { run, attemptId, variant, signal } = attempt;
  const { taskId, query, model: agent = "" } = run;
  const giveUpAt = clock.monotonic() + MAX_SENDING_MS;
  const loaded = await loadMaterial(deps, taskId, materialToSend(variant));
  let isUnsent = true;
  let omitsExtras = false;
  const withhold = (error: AppError): Sending => settle(deps, { ...attempt, isUnsent }, { kind: "withheld", error });
  if (loaded.kind === "refused") return withhold(loaded.error);
  for (let sends = 1; ; sends += 1) {
    const shutdown = refusalWhenLeaving(deps);
    if (shutdown !== undefined) return withhold(shutdown);
    failpoint("before-post");
    const outcome = await deps.agent.start({
      query,
      agent,
      variant,
      files: loaded.files,
      mcpServers: loaded.mcpServers,
      labels: { run: taskId, attempt: attemptId },
      omitsExtras,
      checkBeforeSending: () => checkBeforeSending(deps, { taskId, attemptId, signal }),
      // Neither the call nor a shutdown may abort this request: without its response a paid run would lose its id.
      signal: new AbortController().signal,
    });
    failpoint("after-post");
    isUnsent &&= hasNotReachedGoogle(outcome);
    if (!omitsExtras && refusesExtras(outcome)) {
      omitsExtras = true;
      continue;
    }
    const fallback = await fallBackToStoredReport(deps, attempt, outcome);
    if (fallback !== undefined) return send(deps, fallback);
    const pause = sends < MAX_SENDS ? pauseAfter(outcome, sends) : undefined;
    if (pause === undefined || clock.monotonic() + pause > giveUpAt)
      return settle(deps, { ...attempt, isUnsent }, outcome);
    const refusal = await waitBeforeResend(deps, attempt, pause);
    if (refusal !== undefined) return withhold(refusal);
  }
}

/** Waits before the next send. A cancelled call ends the wait, unless another call has joined the run. */
async function waitBeforeResend(
  deps: ResearchDeps,
  { run: { taskId }, attemptId, signal }: Attempt,
  pause: number,
): Promise<AppError | undefined> {
  const { clock, leaving } = deps;
  const until = clock.monotonic() + pause;
  const ended = signal === undefined ? leaving : AbortSignal.any([leaving, signal]);
  await clock.sleep(pause, ended).catch(() => undefined);
  const refusal = await checkBeforeSending(deps, { taskId, attemptId, signal });
  const remainingMs = Math.max(0, until - clock.monotonic());
  if (refusal === undefined) await clock.sleep(remainingMs, leaving).catch(() => undefined);
  return refusal;
}

/** The pause before the same request is sent again; undefined if it may have been charged or the refusal is final. */
function pauseAfter(outcome: StartOutcome, sends: number): number | undefined {
  if (outcome.kind === "not_sent") return MIN_PAUSE_MS * sends;
  if (outcome.kind !== "rate_limited") return undefined;
  return Math.max(MIN_PAUSE_MS, outcome.retryAfterMs ?? MIN_PAUSE_MS * sends);
}

/** Google has taken labels back before. A 400 is not charged, and the research does not need them. */
const refusesExtras = (outcome: StartOutcome): boolean =>
  outcome.kind === "refused" && outcome.error.reason === "extras";

const hasNotReachedGoogle = (outcome: StartOutcome): boolean =>
  outcome.kind === "not_sent" ||
  outcome.kind === "withheld" ||
  (outcome.kind === "refused" && outcome.status === undefined);

/** `isUnsent`: none of the requests of this attempt has reached Google. */
async function settle(deps: ResearchDeps, attempt: Attempt & { isUnsent: boolean }, outcome: StartOutcome): Sending {
  if (outcome.kind !== "accepted") {
    const failure = failureOf(attempt, outcome, deps.clock.now());
    return recordFailure(deps, isMissingPlan(attempt, outcome) ? await withoutPlan(deps, attempt, failure) : failure);
  }
  const { run, attemptId } = attempt;
  await saveId(deps, { ...run, attemptId, interactionId: outcome.interactionId });
  return undefined;
}

function failureOf(
  attempt: Attempt & { isUnsent: boolean },
  outcome: Exclude<StartOutcome, { kind: "accepted" }>,
  now: number,
): StartFailure {
  const {
    run: { taskId },
    attemptId,
    isUnsent,
  } = attempt;
  if (outcome.kind === "unknown") {
    const message = `${outcome.why} It is not known whether the research was started.`;
    return { taskId, attemptId, to: "start_unknown", error: { code: "START_UNKNOWN", message }, now };
  }
  const { code, message, suggestion } = outcome.error;
  const to = code === "CANCELLED" ? "cancelled" : "failed";
  return { taskId, attemptId, to, error: { code, message, suggestion }, isUnsent, now };
}

/** Google answers 404 for an interaction that it has deleted. */
const isMissingPlan = ({ variant }: Attempt, outcome: StartOutcome): boolean =>
  outcome.kind === "refused" &&
  outcome.status === 404 &&
  variant?.previousInteractionId !== undefined &&
  variant.collaborativePlanning !== undefined;

/** It says the same of a plan that is fresh, which then waits for approval as before. */
async function withoutPlan(deps: ResearchDeps, { variant }: Attempt, failure: StartFailure): Promise<StartFailure> {
  const plan = { interactionId: variant?.previousInteractionId ?? "", createdAt: failure.now };
  const isPlanExpired = await canHaveExpired(deps, plan).catch(() => false);
  return isPlanExpired ? { ...failure, isPlanExpired } : { ...failure, error: PLAN_NOT_FOUND_YET };
}

const PLAN_NOT_FOUND_YET = {
  code: "GEMINI_UNAVAILABLE",
  message: "Google does not find the plan, which may be temporary.",
  suggestion: "Try again in a few minutes.",
};

/** If the database rejects an uncharged failure, it is logged and kept in memory to be stored later. */
async function recordFailure(deps: ResearchDeps, failure: StartFailure): Sending {
  try {
    await recordStartFailure(deps.db, failure);
  } catch {
    if (failure.to !== "start_unknown") deps.unchargedFailures.set(failure.attemptId, failure);
    deps.log.forRun(failure.taskId).error(`Run ${failure.taskId}: ${failure.error.message} This could not be stored.`);
  }
  return failure;
}
