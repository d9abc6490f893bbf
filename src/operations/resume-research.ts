/** `resume_research`: takes up again what stopped, never paying twice without the user's word. */

import { z } from "zod";
import { AppError } from "../errors.ts";
import { factLines } from "./answer-text.ts";
import { defineOperation, outputSchema, taskId } from "./operation.ts";
import { continueDeepSearch } from "./deep-search.ts";
import { acceptedRun } from "./start-deep-research.ts";

export const resumeResearch = defineOperation({
  name: "resume_research",
  title: "Resume research",
  description:
    "Takes up a run that stopped: looks again at a failed or timed-out deep research (free), continues an interrupted deep_search at its next round (costs that round), adopts the interaction_id of a start whose outcome is unknown (free), or starts such a one again, which may be charged twice and therefore needs accept_possible_double_charge. Not for finished runs. Answers within 30 s.",
  input: z.strictObject({
    task_id: taskId,
    interaction_id: z
      .string({ error: "interaction_id must be a text." })
      .trim()
      .regex(/^[\w.=-]{4,512}$/, { error: "interaction_id must be the id that Google shows." })
      .optional()
      .describe("Google's id of a run whose start is unknown."),
    accept_possible_double_charge: z
      .boolean({ error: "accept_possible_double_charge must be true or false." })
      .default(false)
      .describe("Start an unknown start again although the first may be running and charged."),
  }),
  output: outputSchema({
    message: z.string(),
    check_status_command: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  positional: "task_id",
  waitFlag: "wait",
  run: async (deps, input, call) => {
    const run = await deps.findRun(call.owner, input.task_id);
    if (run.kind === "deep_search") return continueDeepSearch(deps, run, call);
    if (run.kind !== "agent") {
      throw new AppError({
        code: "INVALID_INPUT",
        message: "A single search cannot be resumed; ask it again.",
        run: { task_id: run.taskId, status: run.status, progress: run.progress },
      });
    }
    const { research, runner } = await deps.research();
    const { resumeAgentRun } = await import("../runs/resume.ts");
    const resumed = await resumeAgentRun(research, {
      owner: call.owner,
      taskId: run.taskId,
      interactionId: input.interaction_id,
      acceptDoubleCharge: input.accept_possible_double_charge,
    });
    runner.start();
    runner.wake();
    const { taskId } = run;
    const current =
      resumed.kind === "restarted"
        ? await acceptedRun(deps, { owner: call.owner, taskId, sending: resumed.sending })
        : resumed.run;
    return {
      success: true,
      task_id: taskId,
      status: current.status,
      message: MESSAGE[resumed.kind],
      check_status_command: `check_research_status(task_id='${taskId}')`,
    };
  },
  toText: ({ success: _success, ...facts }) => factLines(facts),
});

const MESSAGE = {
  adopted: "The interaction was adopted; the run is being followed.",
  looking: "The run is being looked at; a report that was finished meanwhile will be recorded.",
  restarted: "The research was started again, as you wished.",
};
