/** The requests of one poll: a cancel that is still to be sent, the question, and its repetition when Google answers 404. */

import { AppError } from "../../errors.ts";
import type { PollResult } from "../../gemini/research-agent.ts";
import type { ResearchDeps } from "../deps.ts";
import type { FollowedRun } from "./followed-run.ts";
import { missingSetting } from "./missing-setting.ts";
import type { Patience } from "./outcome.ts";

/** A quick poll waits so long; what takes longer must not keep the other polls of its batch. */
const QUICK_MS = 1_500;
/** A 404 may be a hiccup: only one that stays over this many polls, about ten seconds, is believed. */
export const POLLS_BEFORE_EXPIRED = 3;
const BETWEEN_MISSES_MS = 4_500;
/** Polls of a run that seems gone end well before the lease does: another one may take 45 s. */
const MISSES_WITHIN_MS = 10_000;

/** A 404 that took its time is asked about again with the next poll. */
const NOT_SURE: PollResult = {
  kind: "unreachable",
  error: new AppError({ code: "GEMINI_UNAVAILABLE", message: "Google is slow to say whether it has this run." }),
};

export function patienceOf({ leaving }: Pick<ResearchDeps, "leaving">, patience: Patience) {
  const limit = patience === "quick" ? AbortSignal.timeout(QUICK_MS) : undefined;
  return {
    signal: limit === undefined ? leaving : AbortSignal.any([leaving, limit]),
    isTooSlow: (look: PollResult): boolean => limit?.aborted === true && look.kind === "unreachable",
  };
}

/** A requested cancel is sent before the poll: it may be repeated safely. */
export async function ask(deps: ResearchDeps, run: FollowedRun, patience: Patience): Promise<PollResult | "slow"> {
  const { signal, isTooSlow } = patienceOf(deps, patience);
  if (run.cancelRequestedAt !== undefined && (run.status === "running_async" || run.status === "cancelled")) {
    await deps.agent.cancel(run.interactionId, signal);
  }
  const began = deps.clock.now();
  let look = await deps.agent.poll(run.interactionId, signal);
  if (isTooSlow(look)) return "slow";
  for (let misses = 1; look.kind === "missing" && misses < POLLS_BEFORE_EXPIRED; misses += 1) {
    if ((await missingSetting(deps, run)) !== undefined) return look;
    if (patience === "quick") return "slow";
    if (deps.clock.now() - began + BETWEEN_MISSES_MS > MISSES_WITHIN_MS) return NOT_SURE;
    await deps.clock.sleep(BETWEEN_MISSES_MS, deps.leaving);
    look = await deps.agent.poll(run.interactionId, deps.leaving);
  }
  return look;
}
