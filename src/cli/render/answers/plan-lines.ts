/** The lines about a plan that waits for approval: what the research will cost, and the commands that decide. */

import { shortId } from "../answer-view.ts";
import { formatDollars } from "../durations.ts";

export function approvalLine(cost: { likely_usd: number; max_usd: number } | undefined): string {
  if (cost === undefined) return "This plan waits for your approval.";
  return `This plan waits for your approval. The research will cost about ${formatDollars(cost.likely_usd)} (up to ${formatDollars(cost.max_usd)}).`;
}

export function planCommands(taskId: string): [purpose: string, command: string][] {
  const id = shortId(taskId);
  return [
    ["Start it", `approve ${id}`],
    ["Change it", `plan ${id} --edit "…"`],
    ["Drop it", `stop ${id}`],
  ];
}
