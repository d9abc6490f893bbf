/** Sends the requests of one poll: a pending cancel, the state request, and its retries after a 404. */

import { AppError } from "../../errors.ts";
import type { PollResult } from "../../gemini/research-agent.ts";
import type { ResearchDeps } from "../deps.ts";
import type { FollowedRun } from "./followed-run.ts";
import { missingSetting } from "./missing-setting.ts";
import type { Patience } from "./outcome.ts";

/** Timeout of a quick poll, so that a slow response does not delay the other polls of its batch. */
const QUICK_POLL_TIMEOUT_MS = 1_500;
/** A 404 may be transient: a run counts as expired only after this many in a row, over about ten seconds. */
export const POLLS_BEFORE_EXPIRED = 3;
const MISSING_RETRY_MS = 4_500;
/** Retries after a 404 stop well before the lease ends, because one more request may take 45 s. */
const MAX_MISSING_RETRIES_MS = 10_000;

/** A slow 404 is not confirmed in this poll but in the next one. */
const UNCONFIRMED_MISSING: PollResult = {
  kind: "unreachable",
  error: new AppError({
    code: "GEMINI_UNAVAILABLE",
    message: "Google took too long to confirm that this run does not exist.",
  }),
};

export function pollTimeout({ leaving }: Pick<ResearchDeps, "leaving">, patience: Patience) {
  const limit = patience === "quick" ? AbortSignal.timeout(QUICK_POLL_TIMEOUT_MS) : undefined;
  return {
    signal: limit === undefined ? leaving : AbortSignal.any([leaving, limit]),
    isTooSlow: (polled: PollResult): boolean => limit?.aborted === true && polled.kind === "unreachable",
  };
}

/** A requested cancel is sent before every poll: the request is idempotent. */
export async function ask(deps: ResearchDeps, run: FollowedRun, patience: Patience): Promise<PollResult | "slow"> {
  const { signal, isTooSlow } = pollTimeout(deps, patience);
  if (run.cancelRequestedAt !== undefined && (run.status === "running_async" || run.status === "cancelled")) {
    await deps.agent.cancel(run.interactionId, signal);
  }
  const startedAt = deps.clock.now();
  let polled = await deps.agent.poll(run.interactionId, signal);
  if (isTooSlow(polled)) return "slow";
  for (let misses = 1; polled.kind === "missing" && misses < POLLS_BEFORE_EXPIRED; misses += 1) {
    if ((await missingSetting(deps, run)) !== undefined) return polled;
    if (patience === "quick") return "slow";
    if (deps.clock.now() - startedAt + MISSING_RETRY_MS > MAX_MISSING_RETRIES_MS) return UNCONFIRMED_MISSING;
    await deps.clock.sleep(MISSING_RETRY_MS, deps.leaving);
    polled = await deps.agent.poll(run.interactionId, deps.leaving);
  }
  return polled;
}
