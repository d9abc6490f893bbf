/** `resume_research`: resumes a run that stopped; never pays twice unless the user agreed to it. */

import { z } from "zod";
import { AppError } from "../errors.ts";
import { notDurable, waitForStartOutcome } from "./parts/start-outcome.ts";
import { factLines } from "./parts/answer-text.ts";
import { costQuestion, requireCostConsent } from "./parts/cost-confirmation.ts";
import { tokensSent } from "./parts/material.ts";
import { defineOperation, outputSchema, taskIdField } from "./operation.ts";
import { continueDeepSearch } from "./deep-search.ts";

const RESUME = "resume_research";
/** Both the first and the repeated start may be charged. */
const CHARGES = 2;

export const resumeResearch = defineOperation({
  name: RESUME,
  title: "Resume research",
  description:
    "Resumes a stopped run: polls a failed or timed-out deep research again (free), continues an interrupted deep_search at its next round (cents), adopts the interaction_id of an unknown start (free), or sends it again, which may be charged twice and needs accept_possible_double_charge. Not for runs in progress or completed. Answers within 30 s with the task_id to follow.",
  input: z.strictObject({
    task_id: taskIdField,
    interaction_id: z
      .string({ error: "interaction_id must be a string." })
      .trim()
      .regex(/^[\w.=-]{4,512}$/, { error: "interaction_id must be the id that Google shows." })
      .optional()
      .describe("Google's id of a run whose start is unknown."),
    accept_possible_double_charge: z
      .boolean({ error: "accept_possible_double_charge must be true or false." })
      .default(false)
      .describe("Start again although the first may be running and charged."),
  }),
  output: outputSchema({
    message: z.string(),
    check_status_command: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  positional: "task_id",
  waitFlag: "wait",
  question: async (deps, input, call) => {
    if (!input.accept_possible_double_charge || input.interaction_id !== undefined) return undefined;
    const run = await deps.findRun(call.owner, input.task_id);
    const { kind, status, query, model: agent = "" } = run;
    if (kind !== "agent" || status !== "start_unknown") return undefined;
    const tokens = await tokensSent(run);
    const question = await costQuestion(deps, call, { query, agent, tokens, charges: CHARGES });
    return (
      question && {
        ...question,
        ask: `${question.ask} ${MAY_CHARGE_TWICE}`,
        because: `${question.because} ${MAY_CHARGE_TWICE}`,
      }
    );
  },
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
    const { research, runner, durable } = await deps.research();
    const { resumeAgentRun } = await import("../runs/start/resume.ts");
    const { query, model: agent = "" } = run;
    const again = { query, agent, tokens: await tokensSent(run), charges: CHARGES, operation: RESUME };
    const resumed = await resumeAgentRun(research, {
      beforeStart: durable ? await requireCostConsent(deps, call, again) : refuseNotDurable,
      signal: call.signal,
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
        ? await waitForStartOutcome(deps, { owner: call.owner, taskId, sending: resumed.sending })
        : resumed.run;
    return {
      success: true,
      // A run that already has an interaction keeps it; the adopted interaction then gets a run of its own.
      task_id: current.taskId,
      status: current.status,
      message: MESSAGE[resumed.kind],
      check_status_command: `check_research_status(task_id='${current.taskId}')`,
    };
  },
  toText: ({ success: _success, ...facts }) => factLines(facts),
});

const refuseNotDurable = (): never => {
  throw notDurable();
};

const MAY_CHARGE_TWICE = "The amount counts the first start too, which may be running already.";

const MESSAGE = {
  adopted: "The interaction was adopted; the run is polled again.",
  looking: "The run is polled again; if its report is finished by now, it will be stored.",
  restarted: "The research was started again, as you requested.",
};
