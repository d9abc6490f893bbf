/** Sends the requests of one poll: a pending cancel, the state request, and its retries after a 404, unless that is due to another key. */

import type { Lane } from "../engine/engine.ts";
import { AppError } from "../../errors.ts";
import type { PollResult } from "../../gemini/research-agent.ts";
import type { ResearchDeps } from "../deps.ts";
import { attemptWith } from "../interaction-store.ts";
import type { PolledRun } from "../run.ts";
import { databaseNow } from "../../store/dialect.ts";
import { currentAttempt } from "../attempt-store.ts";
import type { Obstacle } from "./obstacle.ts";

/** Timeout of a quick poll, so that a slow response does not delay the other polls of its batch. */
const QUICK_POLL_TIMEOUT_MS = 1_500;
/**
 * The shortest time that Google keeps an interaction (free keys; 55 days for paid ones). Within it a 404 is no expiry:
 * fresh interactions were not found for days, and then completed (python-genai issue 2985).
 */
export const MIN_RETENTION_MS = 24 * 3_600_000;
/** After that a 404 may be transient: a run counts as expired after this many in a row, over about ten seconds. */
export const POLLS_BEFORE_EXPIRED = 3;
const MISSING_RETRY_MS = 4_500;
/** After a slower 404, two more requests might take longer than the lease: the next poll confirms it. */
const MAX_FIRST_MISSING_MS = 12_000;
/** Shorter than the timeout of a poll, so that all three requests and both pauses fit into the lease. */
const MISSING_RETRY_TIMEOUT_MS = 15_000;

const UNCONFIRMED_MISSING: PollResult = {
  kind: "unreachable",
  error: new AppError({
    code: "GEMINI_UNAVAILABLE",
    message: "Google took too long to confirm that this run does not exist.",
    reason: "overloaded",
  }),
};

/**
 * Measured from the request that led to the interaction, because a run that was sent again may be much older; by the
 * clock of the database, because the clocks of the machine that sent it and of this one may differ.
 */
export async function canHaveExpired(
  { db, clock }: Pick<ResearchDeps, "db" | "clock">,
  { interactionId, createdAt }: Pick<PolledRun, "interactionId" | "createdAt">,
): Promise<boolean> {
  const attempt = await attemptWith(db, interactionId);
  const startedAt = attempt === undefined ? createdAt : Math.max(attempt.created_at, attempt.sent_at ?? 0);
  return (await databaseNow(db, clock.now())) - startedAt >= MIN_RETENTION_MS;
}

export function pollTimeout({ leaving }: Pick<ResearchDeps, "leaving">, lane: Lane) {
  const limit = lane === "quick" ? AbortSignal.timeout(QUICK_POLL_TIMEOUT_MS) : undefined;
  return {
    signal: limit === undefined ? leaving : AbortSignal.any([leaving, limit]),
    isTooSlow: (polled: PollResult): boolean => limit?.aborted === true && polled.kind === "unreachable",
  };
}

/** A requested cancel is sent before every poll, until Google has confirmed it: the request is idempotent. */
export async function ask(deps: ResearchDeps, run: PolledRun, lane: Lane): Promise<PollResult | "slow"> {
  const { signal, isTooSlow } = pollTimeout(deps, lane);
  const isCancelling = run.status === "running_async" || (run.status === "cancelled" && run.cancelConfirmed !== true);
  if (run.cancelRequestedAt !== undefined && isCancelling) {
    await deps.agent.cancel(run.interactionId, signal);
  }
  const startedAt = deps.clock.monotonic();
  let polled = await deps.agent.poll(run.interactionId, signal);
  if (isTooSlow(polled)) return "slow";
  for (let misses = 1; polled.kind === "missing" && misses < POLLS_BEFORE_EXPIRED; misses += 1) {
    if (!(await canHaveExpired(deps, run)) || (await missingSetting(deps, run)) !== undefined) return polled;
    if (lane === "quick") return "slow";
    if (misses === 1 && deps.clock.monotonic() - startedAt > MAX_FIRST_MISSING_MS) return UNCONFIRMED_MISSING;
    await deps.clock.sleep(MISSING_RETRY_MS, deps.leaving);
    const limit = AbortSignal.timeout(MISSING_RETRY_TIMEOUT_MS);
    polled = await deps.agent.poll(run.interactionId, AbortSignal.any([deps.leaving, limit]));
  }
  return polled;
}

/** The setting that must be restored to poll the run; undefined when none is missing. */
export async function missingSetting(
  deps: Pick<ResearchDeps, "db" | "agent">,
  run: { taskId: string; interactionId: string },
): Promise<Obstacle | undefined> {
  const attempt = (await attemptWith(deps.db, run.interactionId)) ?? (await currentAttempt(deps.db, run.taskId));
  const { key, baseUrl } = deps.agent.fingerprint;
  if (attempt === undefined) return undefined;
  const { base_url: address } = attempt;
  if (address !== baseUrl) {
    return { kind: "other_address", setting: address === null || address === "" ? undefined : new URL(address).origin };
  }
  if (attempt.key_fingerprint === (key ?? null)) return undefined;
  return { kind: "other_key", setting: attempt.key_fingerprint?.slice(0, 8) };
}
