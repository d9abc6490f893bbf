/** The tokens and the cost of a run as Google reports them, often some seconds after its completion: until then it is polled. */

import type { ResearchDeps } from "../deps.ts";
import { type PolledRun, usageOf } from "../run.ts";
import type { Lane } from "../engine/engine.ts";
import { countAgentUsage } from "../../gemini/call-telemetry.ts";
import { recordLateUsage } from "./poll-result-store.ts";
import { pollTimeout } from "./ask.ts";
import { NEVER, type Outcome, RATE_LIMIT_MS } from "./seen-store.ts";

/** First interval; later intervals grow with the time since completion, up to `MAX_USAGE_WAIT_MS`. */
export const LATE_USAGE_MS = 5_000;
const MAX_USAGE_WAIT_MS = 5 * 60_000;

export async function pollForUsage(deps: ResearchDeps, run: PolledRun, lane: Lane): Promise<Outcome> {
  const { signal, isTooSlow } = pollTimeout(deps, lane);
  const polled = await deps.agent.poll(run.interactionId, signal);
  if (isTooSlow(polled)) return { next: "slow" };
  const usage = polled.kind === "found" ? polled.interaction.usage : undefined;
  const now = deps.clock.now();
  if (usage !== undefined) {
    const used = usageOf(deps, run, usage);
    await recordLateUsage(deps.db, run, { ...used, now });
    countAgentUsage(run.model ?? "", usage, used.cost.usd);
    return { next: "never", recorded: true };
  }
  const age = now - run.completedAt;
  const isGivenUp = polled.kind === "missing" || age > MAX_USAGE_WAIT_MS;
  if (isGivenUp) return NEVER;
  const next = { afterMs: Math.max(LATE_USAGE_MS, age) };
  return polled.kind === "rate_limited" ? { next, pauseMs: polled.retryAfterMs ?? RATE_LIMIT_MS } : { next };
}
