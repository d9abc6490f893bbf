/** The tokens and the cost of a run so far: of its current interaction and of the planning turns before it. */

import type { AgentUsage } from "../../gemini/research-agent.ts";
import type { ResearchDeps } from "../deps.ts";
import type { PolledRun } from "../poll/polled-run.ts";
import { type TurnUsage, withEarlierTurns } from "./run-plan.ts";

/** Both undefined while Google has not reported usage. */
export function usageOf(
  deps: Pick<ResearchDeps, "costOf">,
  run: Pick<PolledRun, "agent" | "createdAt" | "plan">,
  usage: AgentUsage | undefined,
): { [Part in keyof TurnUsage]: TurnUsage[Part] | undefined } {
  if (usage === undefined) return { tokens: undefined, cost: undefined };
  return withEarlierTurns(run.plan, currentUsage(deps, run, usage));
}

/** Of the current interaction alone, at the prices of the time when it was requested. */
export const currentUsage = (
  { costOf }: Pick<ResearchDeps, "costOf">,
  { agent, createdAt }: Pick<PolledRun, "agent" | "createdAt">,
  usage: AgentUsage,
): TurnUsage => ({
  tokens: { input: usage.input, output: usage.output },
  cost: costOf(usage, agent, createdAt),
});
