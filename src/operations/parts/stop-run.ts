/** Stops a run, here and at Google, and says how that ended. */

import type { CancelRequest } from "../../runs/cancel/cancel.ts";
import type { Run } from "../../runs/run.ts";
import type { OperationDeps } from "../operation.ts";

export async function stopRun(deps: OperationDeps, request: CancelRequest): Promise<Run> {
  const agent = await deps.agent();
  // This process polls the run too, in case no other does.
  const runner = agent === undefined ? undefined : (await deps.research()).runner;
  runner?.start();
  const { cancelRun } = await import("../../runs/cancel/cancel.ts");
  const db = await deps.database();
  return cancelRun({ db, clock: deps.clock, agent, pollNow: async (taskId) => runner?.pollNow(taskId) }, request);
}

export function stopMessage({ kind, status, cancelConfirmed = true, interactionId }: Run): string {
  if (status === "completed") return "The research was finished before it could be cancelled; its report is kept.";
  if (status === "failed") return "The run failed before it could be cancelled.";
  if (status !== "cancelled")
    return "The run was asked to stop and will stop as soon as its process reads the request.";
  if (cancelConfirmed) return "The run is cancelled.";
  return kind === "agent" && interactionId === undefined
    ? "The run is cancelled here. It is not known whether Google started it; if so, it cannot be stopped from here and may be charged."
    : "The run is cancelled here. Google has not confirmed it; if its report still arrives, it is charged and kept.";
}
