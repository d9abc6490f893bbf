/** Polls a completed run for its usage, which Google often reports some seconds after completion. */

import { countAgentUsage } from "../../gemini/call-telemetry.ts";
import { recordLateUsage } from "./poll-result-store.ts";
import type { ResearchDeps } from "../deps.ts";
import type { FollowedRun } from "./followed-run.ts";
import { patienceOf } from "./ask.ts";
import { NEVER, type Outcome, type Patience, RATE_LIMIT_MS } from "./outcome.ts";

/** Waits double until it is given up. */
export const LATE_USAGE_MS = 15_000;
const USAGE_GIVEN_UP_MS = 5 * 60_000;

export async function pollForUsage(deps: ResearchDeps, run: FollowedRun, patience: Patience): Promise<Outcome> {
  const { signal, isTooSlow } = patienceOf(deps, patience);
  const look = await deps.agent.poll(run.interactionId, signal);
  if (isTooSlow(look)) return { next: "slow" };
  const usage = look.kind === "found" ? look.interaction.usage : undefined;
  const now = deps.clock.now();
  if (usage !== undefined) {
    const cost = deps.costOf(usage, run.agent, run.createdAt);
    await recordLateUsage(deps.db, run.taskId, { tokens: usage, cost, now });
    countAgentUsage(run.agent, usage, cost.usd);
    return { next: "never", recorded: true };
  }
  const age = now - run.completedAt;
  const isOver = look.kind === "missing" || age > USAGE_GIVEN_UP_MS;
  if (isOver) return NEVER;
  const next = { afterMs: Math.max(LATE_USAGE_MS, age) };
  return look.kind === "rate_limited" ? { next, pauseMs: look.retryAfterMs ?? RATE_LIMIT_MS } : { next };
}
