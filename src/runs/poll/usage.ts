/** The tokens and the cost of a run as Google reports them, often some seconds after its end: until then it is polled. */

import type { ResearchDeps } from "../deps.ts";
import { type PolledRun, usageOf } from "../run.ts";
import type { Lane } from "../engine/engine.ts";
import type { Interaction } from "../../gemini/research-agent.ts";
import { recordLateUsage } from "./poll-result-store.ts";
import { pollTimeout } from "./ask.ts";
import { NEVER, type Outcome, RATE_LIMIT_MS } from "./seen-store.ts";

/** The intervals grow with the time since the end: a run whose usage never arrives is polled about 20 times. */
export const MIN_USAGE_INTERVAL_MS = 5_000;
const MAX_INTERVAL_MS = 15 * 60_000;
const MAX_USAGE_WAIT_MS = 3 * 3_600_000;

/** When a run that ended so long ago is polled for its usage; undefined when it keeps its reservation. */
function usagePollInMs(endedMsAgo: number): number | undefined {
  // Negative after the clock was set back.
  const ms = Math.abs(endedMsAgo);
  return ms > MAX_USAGE_WAIT_MS ? undefined : Math.min(MAX_INTERVAL_MS, Math.max(MIN_USAGE_INTERVAL_MS, ms));
}

/** The next poll of a run that has ended. Google may have ended it later than the user: then its deadline is that time. */
export function pollForMissingUsage({ clock }: ResearchDeps, run: PolledRun): Outcome {
  const now = clock.now();
  const { completedAt, deadlineAt, status, usageFinal } = run;
  const endedAt = status === "completed" || deadlineAt > now ? completedAt : Math.max(completedAt, deadlineAt);
  const afterMs = usageFinal ? undefined : usagePollInMs(now - endedAt);
  return afterMs === undefined ? NEVER : { next: { afterMs } };
}

/** Stores the usage of a run whose end is stored. */
export async function collectUsage(deps: ResearchDeps, run: PolledRun, usage: Interaction["usage"]): Promise<Outcome> {
  if (usage === undefined || run.usageFinal) return pollForMissingUsage(deps, run);
  const used = usageOf(deps, run, usage);
  await recordLateUsage(deps.db, run, { ...used, now: deps.clock.now() });
  return { next: "never", recorded: true };
}

export async function pollForUsage(deps: ResearchDeps, run: PolledRun, lane: Lane): Promise<Outcome> {
  const { signal, isTooSlow } = pollTimeout(deps, lane);
  const polled = await deps.agent.poll(run.interactionId, signal);
  if (isTooSlow(polled)) return { next: "slow" };
  const outcome = await collectUsage(deps, run, polled.kind === "found" ? polled.interaction.usage : undefined);
  return polled.kind === "rate_limited" ? { ...outcome, pauseMs: polled.retryAfterMs ?? RATE_LIMIT_MS } : outcome;
}
