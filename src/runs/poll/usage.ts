/** The tokens and the cost of a run so far, as Google has reported them. */

import type { AgentUsage } from "../../gemini/research-agent.ts";
import type { ResearchDeps } from "../deps.ts";
import type { Run } from "../run.ts";

export type RunUsage = Pick<Run, "tokens" | "cost">;

/** At the prices of the time when the run was requested. */
export const usageOf = (
  { costOf }: Pick<ResearchDeps, "costOf">,
  { model = "", createdAt }: Pick<Run, "model" | "createdAt">,
  usage: AgentUsage,
): RunUsage => ({
  tokens: { input: usage.input, output: usage.output },
  cost: costOf(usage, model, createdAt),
});
