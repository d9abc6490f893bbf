/**
 * The start of a paid run. The API has no idempotency key and no list: the intent is committed before anything is
 * sent, exactly one request is sent, and a doubtful outcome is shown to the user instead of being repeated.
 */

import { AppError } from "../errors.ts";
import type { Begun } from "../gemini/agent.ts";
import { failpoint } from "../platform/failpoint.ts";
import { joinKeyOf } from "./join-store.ts";
import { keepOrphan } from "./orphans.ts";
import type { ResearchDeps } from "./research.ts";
import { commitIntent, commitRestart, isStillWanted, recordStartFailure, saveInteractionId } from "./start-store.ts";

export interface StartRequest {
  owner: string;
  client: string | undefined;
  query: string;
  agent: string;
  enableNotifications: boolean;
  maxWaitMs: number;
  forceNew: boolean;
  /** Called when there is nothing to join, and may refuse by throwing: nothing is stored then, and nothing sent. */
  beforeStart?: () => void;
  estimate: Record<string, unknown>;
  /** What the user is told about the start, for whoever reads its answer later. */
  notice?: string | undefined;
}

export type Started =
  | { kind: "joined"; taskId: string }
  /** `sending` resolves when it is known, and stored, what became of the request. */
  | { kind: "started"; taskId: string; sending: Promise<void> };

export async function startResearch(deps: ResearchDeps, request: StartRequest): Promise<Started> {
  refuseWhenLeaving(deps);
  const { owner, client, query, agent, enableNotifications, maxWaitMs, estimate, notice } = request;
  const intent = await commitIntent(
    deps.db,
    {
      owner,
      client,
      query,
      agent,
      options: { max_wait_ms: maxWaitMs, notice },
      estimate,
      enableNotifications,
      maxWaitMs,
      joinKey: joinKeyOf({ owner, query, agent, maxWaitMs }),
      keyFingerprint: deps.agent.fingerprint.key,
      baseUrl: deps.agent.fingerprint.baseUrl,
      processId: deps.processId,
      now: deps.clock.now(),
    },
    { join: !request.forceNew, beforeNew: request.beforeStart },
  );
  if (intent.kind === "joined") return intent;
  failpoint("after-intent");
  const sending = deps.during(send(deps, { ...intent, query, agent, enableNotifications }));
  return { kind: "started", taskId: intent.taskId, sending };
}

/** Only after the user knowingly accepted that the first start may be running and paid for. */
export async function restartUnknown(
  deps: ResearchDeps,
  run: Omit<Attempt, "attemptId"> & { deadlineAt: number; beforeStart?: (() => void) | undefined },
): Promise<{ sending: Promise<void> } | undefined> {
  refuseWhenLeaving(deps);
  run.beforeStart?.();
  const { key: keyFingerprint, baseUrl } = deps.agent.fingerprint;
  const { processId, clock } = deps;
  const restart = {
    taskId: run.taskId,
    deadlineAt: run.deadlineAt,
    keyFingerprint,
    baseUrl,
    processId,
    now: clock.now(),
  };
  const attemptId = await commitRestart(deps.db, restart);
  // In an object: an async function would wait for a promise that it returns.
  return attemptId === undefined ? undefined : { sending: deps.during(send(deps, { ...run, attemptId })) };
}

/** Who is on the way out could not wait for the answer, and its id would be lost. */
function refuseWhenLeaving({ leaving }: ResearchDeps): void {
  if (leaving.aborted) throw stoppedBefore();
}

const stoppedBefore = (): AppError =>
  new AppError({
    code: "INTERRUPTED",
    message: "The server is shutting down. The research was not sent and nothing was charged.",
    suggestion: "Start it again.",
  });

interface Attempt {
  taskId: string;
  attemptId: string;
  query: string;
  agent: string;
  enableNotifications: boolean;
}

/** What surely cost nothing may be tried again, this often and within this time. */
const MOST_TRIES = 3;
const TRY_WITHIN_MS = 20_000;
const WAIT_MS = 1_000;

async function send(deps: ResearchDeps, attempt: Attempt): Promise<void> {
  const giveUpAt = deps.clock.now() + TRY_WITHIN_MS;
  for (let tries = 1; ; tries += 1) {
    if (deps.leaving.aborted) return settle(deps, attempt, { kind: "not_sent", error: stoppedBefore() });
    failpoint("before-post");
    const begun = await deps.agent.begin({
      query: attempt.query,
      agent: attempt.agent,
      labels: { run: attempt.taskId, attempt: attempt.attemptId },
      // Not the signal of a leaving process: the answer to a paid request is worth the wait.
      signal: new AbortController().signal,
    });
    failpoint("after-post");
    const wait = freeToTryAgain(begun) && tries < MOST_TRIES ? waitFor(begun, tries) : undefined;
    if (wait === undefined || deps.clock.now() + wait > giveUpAt || deps.leaving.aborted) {
      await settle(deps, attempt, begun);
      return;
    }
    await deps.clock.sleep(wait, deps.leaving).catch(() => undefined);
    // Meanwhile somebody may have cancelled it, or the process may be on its way out: then nothing more is sent.
    if (deps.leaving.aborted || !(await isStillWanted(deps.db, attempt.taskId))) {
      await settle(deps, attempt, begun);
      return;
    }
  }
}

const freeToTryAgain = (begun: Begun): boolean => begun.kind === "not_sent" || begun.kind === "rate_limited";

const waitFor = (begun: Begun, tries: number): number =>
  (begun.kind === "rate_limited" ? begun.retryAfterMs : undefined) ?? WAIT_MS * tries;

async function settle(deps: ResearchDeps, attempt: Attempt, begun: Begun): Promise<void> {
  const { taskId, attemptId } = attempt;
  const now = deps.clock.now();
  switch (begun.kind) {
    case "accepted":
      await keepId(deps, attempt, begun.interactionId);
      return;
    case "unknown":
      await failed(deps, {
        taskId,
        attemptId,
        to: "start_unknown",
        error: { code: "START_UNKNOWN", message: `${begun.why} Nobody knows whether the research was started.` },
        now,
      });
      return;
    case "not_sent":
    case "refused":
    case "rate_limited":
      await failed(deps, {
        taskId,
        attemptId,
        to: "failed",
        error: { code: begun.error.code, message: begun.error.message },
        now,
      });
  }
}

/** A start that failed for nothing must not be lost in a second fault: the log has it at least. */
async function failed(deps: ResearchDeps, failure: Parameters<typeof recordStartFailure>[1]): Promise<void> {
  try {
    await recordStartFailure(deps.db, failure);
  } catch {
    deps.log.error(`Run ${failure.taskId}: ${failure.error.message} This could not be stored.`);
  }
}

async function keepId(deps: ResearchDeps, attempt: Attempt, interactionId: string): Promise<void> {
  const { taskId, attemptId, query, enableNotifications } = attempt;
  try {
    await saveInteractionId(deps.db, { attemptId, interactionId, now: deps.clock.now() });
    failpoint("after-id");
  } catch {
    deps.unsaved.set(taskId, { taskId, attemptId, query, interactionId, enableNotifications });
    deps.log.error(
      `Run ${taskId} was started at Google as ${interactionId}, but the database refused the id. ${keptAside(deps, attemptId, interactionId)}`,
    );
  }
}

function keptAside(deps: ResearchDeps, attemptId: string, interactionId: string): string {
  try {
    keepOrphan(deps.stateDir, attemptId, interactionId);
    return "It is kept in orphans.jsonl and taken up as soon as the database can be written.";
  } catch {
    return "It could not be written to orphans.jsonl either: this line is its only record besides this process's memory.";
  }
}
