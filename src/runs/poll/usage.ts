/** The tokens and the cost of a run so far, as Google has reported them. */

import type { Cost } from "../../costs/actual.ts";
import type { AgentUsage } from "../../gemini/research-agent.ts";
import type { ResearchDeps } from "../deps.ts";
import type { PolledRun } from "./polled-run.ts";

export interface RunUsage {
  tokens: { input: number; output: number };
  cost: Cost;
}

/** At the prices of the time when the run was requested. */
export const usageOf = (
  { costOf }: Pick<ResearchDeps, "costOf">,
  { agent, createdAt }: Pick<PolledRun, "agent" | "createdAt">,
  usage: AgentUsage,
): RunUsage => ({
  tokens: { input: usage.input, output: usage.output },
  cost: costOf(usage, agent, createdAt),
});
