/**
 * The start of a paid run. The API has no idempotency key and no list: the intent is committed before anything is
 * sent, at most one request is accepted, and a doubtful outcome is shown to the user instead of being repeated.
 */

import type { AppError } from "../../errors.ts";
import type { StartOutcome } from "../../gemini/research-agent.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { add, inRun } from "../../telemetry/telemetry.ts";
import { hasAttempt, newStartIds } from "../attempt-store.ts";
import { flushUnchargedFailures, guardLostCommit } from "../recovery/uncharged-starts.ts";
import { joinKeyOf } from "./duplicate-start-store.ts";
import { keepOrphanedId } from "../recovery/orphaned-ids.ts";
import type { ResearchDeps } from "../deps.ts";
import { saveInteractionId } from "../interaction-store.ts";
import { cancelledOrLeaving, checkBeforeSending, refusalWhenLeaving } from "./check-before-sending.ts";
import { commitIntent, commitRestart, recordStartFailure } from "./start-store.ts";

export interface StartRequest {
  owner: string;
  client: string | undefined;
  query: string;
  agent: string;
  enableNotifications: boolean;
  maxWaitMs: number;
  /** How long the call waits for the end at most. */
  callerWaitsMs?: number | undefined;
  forceNew: boolean;
  /** Called when there is nothing to join, and may refuse by throwing: nothing is stored then, and nothing sent. */
  beforeStart?: () => void;
  estimate: Record<string, unknown>;
  /** What the user is told about the start, for whoever reads its answer later. */
  notice?: string | undefined;
  /** Of the call. A call that is cancelled before its request is sent is not paid for; afterwards it has no effect. */
  signal?: AbortSignal | undefined;
}

export type Started =
  | { kind: "joined"; taskId: string }
  /** `sending` resolves when it is known, and stored, what became of the request. */
  | { kind: "started"; taskId: string; sending: Promise<void> };

export async function startResearch(deps: ResearchDeps, request: StartRequest): Promise<Started> {
  refuseBeforeIntent(deps, request.signal);
  const { owner, client, query, agent, enableNotifications, maxWaitMs, callerWaitsMs, estimate, notice } = request;
  // One that nobody will send must not be joined.
  await flushUnchargedFailures(deps);
  const wish = {
    owner,
    client,
    query,
    agent,
    options: { max_wait_ms: maxWaitMs, notice },
    estimate,
    enableNotifications,
    maxWaitMs,
    callerWaitsMs,
    joinKey: joinKeyOf({ owner, query, agent, maxWaitMs }),
    keyFingerprint: deps.agent.fingerprint.key,
    baseUrl: deps.agent.fingerprint.baseUrl,
    processId: deps.processId,
    now: deps.clock.now(),
  };
  const { limits, queue } = deps;
  const ids = newStartIds();
  const beforeNew = (): void => {
    refuseBeforeIntent(deps, request.signal);
    request.beforeStart?.();
  };
  const admission = { join: !request.forceNew, beforeNew, limits, queue, ids };
  const intent = await guardLostCommit(deps, ids, () => commitIntent(deps.db, wish, admission));
  if (intent.kind === "joined") return intent;
  failpoint("after-intent");
  const attempt = { ...intent, query, agent, enableNotifications, signal: request.signal };
  const sending = deps.during(inRun(intent.taskId, () => send(deps, attempt)));
  return { kind: "started", taskId: intent.taskId, sending };
}

/** Only after the user knowingly accepted that the first start may be running and paid for. */
export async function restartUnknown(
  deps: ResearchDeps,
  run: Omit<Attempt, "attemptId"> & { deadlineAt: number; beforeStart?: (() => void) | undefined },
): Promise<{ sending: Promise<void> } | undefined> {
  refuseBeforeIntent(deps, run.signal);
  run.beforeStart?.();
  const { key: keyFingerprint, baseUrl } = deps.agent.fingerprint;
  const { processId, clock, limits, queue } = deps;
  const ids = { ...newStartIds(), taskId: run.taskId };
  const restart = {
    taskId: run.taskId,
    deadlineAt: run.deadlineAt,
    keyFingerprint,
    baseUrl,
    processId,
    now: clock.now(),
  };
  const attemptId = await guardLostCommit(deps, ids, () => commitRestart(deps.db, restart, { limits, queue, ids }));
  // In an object: an async function would wait for a promise that it returns.
  if (attemptId === undefined) return undefined;
  return { sending: deps.during(inRun(run.taskId, () => send(deps, { ...run, attemptId }))) };
}

function refuseBeforeIntent(deps: ResearchDeps, signal: AbortSignal | undefined): void {
  const refusal = cancelledOrLeaving(deps, { signal });
  if (refusal !== undefined) throw refusal;
}

interface Attempt {
  taskId: string;
  attemptId: string;
  query: string;
  agent: string;
  enableNotifications: boolean;
  signal?: AbortSignal | undefined;
}

/** What surely cost nothing may be sent again, this often and within this time. */
const MAX_SENDS = 3;
const SEND_WITHIN_MS = 20_000;
/** Also when Google asks for no pause at all: a limit that was just exceeded is not over in the same moment. */
const MIN_PAUSE_MS = 1_000;

async function send(deps: ResearchDeps, attempt: Attempt): Promise<void> {
  const { clock, leaving } = deps;
  const { taskId, attemptId, query, agent, signal } = attempt;
  const giveUpAt = clock.monotonic() + SEND_WITHIN_MS;
  for (let sends = 1; ; sends += 1) {
    const leave = refusalWhenLeaving(deps);
    if (leave !== undefined) return settle(deps, attempt, { kind: "withheld", error: leave });
    failpoint("before-post");
    const begun = await deps.agent.start({
      query,
      agent,
      labels: { run: taskId, attempt: attemptId },
      checkBeforeSending: () => checkBeforeSending(deps, { taskId, attemptId, signal }),
      // Not the signal of the call or of a leaving process: the answer to a paid request is worth the wait.
      signal: new AbortController().signal,
    });
    failpoint("after-post");
    const pause = isFreeToSendAgain(begun) && sends < MAX_SENDS ? pauseAfter(begun, sends) : undefined;
    if (pause === undefined || clock.monotonic() + pause > giveUpAt || leaving.aborted) {
      await settle(deps, attempt, begun);
      return;
    }
    const refusal = await refusalDuring(deps, attempt, pause);
    if (refusal !== undefined) return settle(deps, attempt, { kind: "withheld", error: refusal });
  }
}

/** Waits before the next send. A cancelled call ends the wait, unless another call has joined and wants the result. */
async function refusalDuring(
  deps: ResearchDeps,
  { taskId, attemptId, signal }: Attempt,
  pause: number,
): Promise<AppError | undefined> {
  const { clock, leaving } = deps;
  const until = clock.monotonic() + pause;
  const ended = signal === undefined || signal.aborted ? leaving : AbortSignal.any([leaving, signal]);
  await clock.sleep(pause, ended).catch(() => undefined);
  if (!leaving.aborted && signal?.aborted !== true) return undefined;
  const refusal = await checkBeforeSending(deps, { taskId, attemptId, signal });
  const rest = until - clock.monotonic();
  if (refusal === undefined && rest > 0) await clock.sleep(rest, leaving).catch(() => undefined);
  return refusal;
}

const isFreeToSendAgain = (begun: StartOutcome): boolean => begun.kind === "not_sent" || begun.kind === "rate_limited";

const pauseAfter = (begun: StartOutcome, sends: number): number =>
  Math.max(MIN_PAUSE_MS, (begun.kind === "rate_limited" ? begun.retryAfterMs : undefined) ?? MIN_PAUSE_MS * sends);

async function settle(deps: ResearchDeps, attempt: Attempt, begun: StartOutcome): Promise<void> {
  const { taskId, attemptId } = attempt;
  const now = deps.clock.now();
  add("gemini_search.research.starts", 1, { outcome: begun.kind });
  switch (begun.kind) {
    case "accepted":
      await keepId(deps, attempt, begun.interactionId);
      return;
    case "unknown":
      await failed(deps, {
        taskId,
        attemptId,
        to: "start_unknown",
        error: { code: "START_UNKNOWN", message: `${begun.why} It is not known whether the research was started.` },
        now,
      });
      return;
    case "not_sent":
    case "withheld":
    case "refused":
    case "rate_limited":
      await failed(deps, {
        taskId,
        attemptId,
        to: begun.error.code === "CANCELLED" ? "cancelled" : "failed",
        error: { code: begun.error.code, message: begun.error.message },
        now,
      });
  }
}

/** A start that failed for nothing must not be lost in a second fault: it is stored later, and the log has it at least. */
async function failed(deps: ResearchDeps, failure: Parameters<typeof recordStartFailure>[1]): Promise<void> {
  try {
    await recordStartFailure(deps.db, failure);
  } catch {
    if (failure.to !== "start_unknown") deps.unchargedFailures.set(failure.attemptId, failure);
    deps.log.forRun(failure.taskId).error(`Run ${failure.taskId}: ${failure.error.message} This could not be stored.`);
  }
}

/** A save that takes longer may never end: a network that swallows answers lets it wait for minutes. */
const SAVE_WITHIN_MS = 1_500;

async function keepId(deps: ResearchDeps, attempt: Attempt, interactionId: string): Promise<void> {
  const { taskId, attemptId, query, enableNotifications } = attempt;
  const log = deps.log.forRun(taskId);
  const started = `Run ${taskId} was started at Google as ${interactionId}, but the database`;
  let aside: string | undefined;
  const setAside = (): string => {
    deps.unsavedIds.set(taskId, { taskId, attemptId, query, interactionId, enableNotifications });
    aside ??= keptAside(deps, attemptId, interactionId);
    return aside;
  };
  const saving = saveInteractionId(deps.db, { attemptId, interactionId, now: deps.clock.now() }, deps.queue);
  try {
    if (!(await endsInTime(deps, saving))) {
      const where = setAside();
      // Who leaves has set it aside to be sure, and most often for nothing.
      if (!deps.leaving.aborted) log.warn(`${started} has not answered yet. ${where}`);
    }
    const isSaved = await saving;
    // Not even the attempt is known: the database is not the one that the start was stored in.
    if (!isSaved && !(await hasAttempt(deps.db, attemptId))) {
      log.error(`${started} does not know of it any more. ${setAside()}`);
      return;
    }
    deps.unsavedIds.delete(taskId);
    failpoint("after-id");
  } catch {
    log.error(`${started} refused the id. ${setAside()}`);
  }
}

/** False: it has not ended yet, and there is no time, or soon will be none, to wait for it. By the time of the network. */
function endsInTime({ leaving }: ResearchDeps, work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const tooLate = (): void => resolve(false);
  const timer = setTimeout(tooLate, SAVE_WITHIN_MS);
  leaving.addEventListener("abort", tooLate, { once: true });
  if (leaving.aborted) tooLate();
  work.then(() => resolve(true), reject);
  return promise.finally(() => {
    clearTimeout(timer);
    leaving.removeEventListener("abort", tooLate);
  });
}

function keptAside(deps: ResearchDeps, attemptId: string, interactionId: string): string {
  try {
    const file = keepOrphanedId(deps.stateDir, { attemptId, interactionId });
    return `It is kept in ${file} and taken up as soon as the database can be written.`;
  } catch {
    return "It could not be written to orphans.jsonl either: this line is its only record besides this process's memory.";
  }
}
