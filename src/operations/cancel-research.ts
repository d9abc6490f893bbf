/** `cancel_research`: stops a run of any kind and keeps what it had found. */

import { z } from "zod";
import { costFields } from "../costs/actual.ts";
import { readStored } from "../runs/read.ts";
import type { Run } from "../runs/run.ts";
import { factLines } from "./answer-text.ts";
import { costSchema } from "./cost-schema.ts";
import { defineOperation, outputSchema, taskId } from "./operation.ts";

export const cancelResearch = defineOperation({
  name: "cancel_research",
  title: "Cancel research",
  description:
    "Stops a run, here and at Google, whichever client started it. Use it when the answer is no longer wanted, not to wait for one (check_research_status). What was found is kept for get_research_results; a report that was finished first is kept and the answer says so. Takes up to 5 s, free; what Google has charged stays charged.",
  input: z.strictObject({
    task_id: taskId,
    save_partial: z
      .boolean({ error: "save_partial must be true or false." })
      .default(true)
      .describe("Keep what was found so far."),
  }),
  output: outputSchema({
    confirmed: z.boolean().describe("False when Google has not confirmed the stop yet."),
    partial_results_saved: z.boolean(),
    progress_at_cancellation: z.number(),
    ...costSchema,
    message: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  positional: "task_id",
  run: async (deps, input, call) => {
    const db = await deps.database();
    const agent = await deps.agent();
    // Whoever cancels also looks for what Google says: no other process may be there to do it.
    const runner = agent === undefined ? undefined : (await deps.research()).runner;
    runner?.start();
    const request = { owner: call.owner, taskId: input.task_id, keepPartial: input.save_partial };
    const { cancelRun } = await import("../runs/cancel.ts");
    const run = await cancelRun({ db, clock: deps.clock, agent, lookNow: () => runner?.wake() }, request);
    const { result } = await readStored(db, call.owner, run.taskId);
    const saved = run.status === "cancelled" && result !== undefined;
    return {
      success: true,
      task_id: run.taskId,
      status: run.status,
      confirmed: run.status === "cancelled" ? (run.cancelConfirmed ?? true) : undefined,
      partial_results_saved: saved,
      progress_at_cancellation: run.progress,
      ...costFields(run.cost),
      message: messageFor(run),
    };
  },
  toText: ({ success: _success, ...facts }) => factLines(facts),
});

function messageFor({ kind, status, cancelConfirmed = true, interactionId }: Run): string {
  if (status === "completed") return "The research was finished before it could be cancelled; its report is kept.";
  if (status === "failed") return "The run failed before it could be cancelled.";
  if (status !== "cancelled")
    return "The run was asked to stop and has not stopped yet; it will as soon as its process sees it.";
  if (cancelConfirmed) return "The run is cancelled.";
  return kind === "agent" && interactionId === undefined
    ? "The run is cancelled here. Nobody knows whether Google started it; if so, it cannot be stopped from here and may be charged."
    : "The run is cancelled here. Google has not confirmed it; if its report arrives all the same it was paid for and will be kept.";
}
