/** `resume_research`: resumes a run that stopped; never pays twice unless the user agreed to it. */

import { z } from "zod";
import { AppError, invalidInput } from "../errors.ts";
import type { Run } from "../runs/run.ts";
import { messageOnceAccepted, waitForStartOutcome } from "./start/started-run.ts";
import { reportText } from "./parts/answer-text.ts";
import { costQuestion, requireCostConsent } from "./parts/cost-confirmation.ts";
import { tokensSent } from "./parts/material.ts";
import { decideOnPlan, NO_PLAN, planAnswer, planFields, questionOnPlan } from "./parts/plan.ts";
import {
  type Call,
  defineOperation,
  flagField,
  hashOfInput,
  type OperationDeps,
  outputSchema,
  taskIdField,
  wholeNumberField,
} from "./operation.ts";
import { continueDeepSearch } from "./deep-search.ts";
import { isTableRun } from "./parts/table.ts";

const RESUME = "resume_research";
const EDIT_ERROR = "{plan_edit} must be a text of at most 20,000 characters.";
/** More turns than a plan ever has. */
const MAX_PLAN_TURN = 999;
/** Both the first and the repeated start may be charged. */
const CHARGES = 2;

export const resumeResearch = defineOperation({
  name: RESUME,
  title: "Resume research",
  description:
    "Costs about $1 to $11 if it approves a plan or sends an unknown start again, which may be charged twice; cents if it changes a plan or continues an interrupted deep_search; nothing if it polls a failed deep research or adopts the interaction_id of an unknown start. Not for runs in progress or completed.",
  input: z.strictObject({
    task_id: taskIdField,
    interaction_id: z
      .string({ error: "{interaction_id} must be a string." })
      .trim()
      .regex(/^[\w.=-]{4,512}$/, { error: "{interaction_id} must be the id that Google shows." })
      .optional()
      .describe("Google's id of an unknown start."),
    accept_possible_double_charge: flagField("accept_possible_double_charge")
      .default(false)
      .describe("Send it again although the first may be charged."),
    approve: flagField("approve").optional().describe("The user approves the plan."),
    plan_edit: z
      .string({ error: EDIT_ERROR })
      .trim()
      .regex(/^(?=[^]*[\p{L}\p{N}])[^]{1,20000}$/u, { error: EDIT_ERROR })
      .optional()
      .describe("What to change in the plan."),
    plan_turn: wholeNumberField("plan_turn", { min: 1, max: MAX_PLAN_TURN })
      .optional()
      .describe("The plan the user saw."),
  }),
  output: outputSchema({
    ...planFields,
    message: z.string(),
    check_status_command: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  positional: "task_id",
  waitFlag: "wait",
  question: async (deps, input, call) => {
    if (isDecision(input)) {
      const run = await deps.findRun(call.owner, input.task_id);
      const question = await questionOnPlan(deps, call, { run, ...decisionIn(input), edit: input.plan_edit });
      const id = run.taskId.slice(0, 8);
      return question && { ...question, command: input.approve === true ? `approve ${id}` : `plan ${id} --edit "…"` };
    }
    if (!input.accept_possible_double_charge || input.interaction_id !== undefined) return undefined;
    const newest = await newestRun(deps, input, call);
    const run = await deps.findRun(call.owner, input.task_id);
    if (run.kind !== "agent" || run.status !== "start_unknown") return undefined;
    const question = await costQuestion(deps, call, await sentAgain(deps, { run, input, newest }));
    return (
      question && {
        ...question,
        command: `retry ${run.taskId.slice(0, 8)} --accept-possible-double-charge`,
        ask: `${question.ask} ${MAY_CHARGE_TWICE}`,
        because: `${question.because} ${MAY_CHARGE_TWICE}`,
      }
    );
  },
  run: async (deps, input, call) => {
    const newest = await newestRun(deps, input, call);
    const run = await deps.findRun(call.owner, input.task_id);
    if (run.kind === "deep_search") return { ...NO_PLAN, ...(await continueDeepSearch(deps, run, call)) };
    if (run.kind !== "agent") {
      throw new AppError({
        code: "INVALID_INPUT",
        message: "A single search cannot be retried; ask it again.",
        run: { task_id: run.taskId, status: run.status, progress: run.progress },
      });
    }
    if (isDecision(input)) return decideOnPlan(deps, call, { run, ...decisionIn(input), edit: editIn(input) });
    if (run.status === "awaiting_approval" && input.interaction_id === undefined)
      return planToDecide(run, await planAnswer(deps, call, { run }));
    const { research, runner, obstacle } = await deps.research();
    const { resumeAgentRun } = await import("../runs/start/resume.ts");
    const again = await sentAgain(deps, { run, input, newest });
    const refusal = await obstacle();
    const consent =
      refusal === undefined ? await requireCostConsent(deps, call, again) : { checkCost: thrower(refusal) };
    const resumed = await resumeAgentRun(research, {
      ...consent,
      signal: call.signal,
      owner: call.owner,
      taskId: run.taskId,
      interactionId: input.interaction_id,
      acceptDoubleCharge: input.accept_possible_double_charge,
      newest: call.agreed?.current ?? newest,
      followup: () => againAsFollowup(deps, run),
    });
    runner.start();
    runner.wake();
    const current =
      resumed.kind === "restarted" ? await waitForStartOutcome(deps, { ...resumed, owner: call.owner }) : resumed.run;
    // A restart that was withheld has given way to the first start, which is known by now.
    const isWithheld = resumed.kind === "restarted" && current.taskId !== resumed.taskId;
    return {
      success: true,
      task_id: current.taskId,
      status: current.status,
      ...NO_PLAN,
      message:
        resumed.kind === "polling" && refusal !== undefined
          ? `The run continues at Google, but its report cannot be stored now. ${refusal.suggestion}`
          : messageOf(isWithheld ? "joined" : resumed.kind, current),
      check_status_command: `check_research_status(task_id='${current.taskId}')`,
    };
  },
  webText: ["plan"],
  toText: ({ success: _success, plan, ...facts }) => reportText({ plan }, facts),
});

interface PlanInput {
  task_id: string;
  approve?: boolean | undefined;
  plan_edit?: string | undefined;
  plan_turn?: number | undefined;
  interaction_id?: string | undefined;
  accept_possible_double_charge?: boolean | undefined;
}

const isDecision = ({ approve, plan_edit }: PlanInput): boolean => approve === true || plan_edit !== undefined;

function editIn({ approve, plan_edit, interaction_id }: PlanInput): string | undefined {
  if (interaction_id !== undefined) {
    throw invalidInput("An interaction id cannot be combined with a decision on a plan. Nothing was sent.", {
      suggestion: "Adopt the interaction first, then decide on its plan.",
      field: "interaction_id",
    });
  }
  if (approve !== true || plan_edit === undefined) return plan_edit;
  throw invalidInput("A plan cannot be changed and approved at once: a changed plan is shown before it is approved.", {
    suggestion: "Change it first, then approve the new plan.",
    field: "approve",
  });
}

const aboutRun = (input: PlanInput) => ({ operation: RESUME, input: hashOfInput({ ...input }), run: input.task_id });

const decisionIn = (input: PlanInput) => ({ about: aboutRun(input), planTurn: input.plan_turn });

/** Read once per call, first of all: a run that is sent again after that is not the one that the call decides on. */
function newestRun(
  deps: OperationDeps,
  { task_id: taskId, accept_possible_double_charge: isAgain }: PlanInput,
  { owner, newestRuns }: Call,
): Promise<string> {
  const read = async (): Promise<string> => {
    // A restart that failed uncharged, which the database has refused to store, has given way to the start before it.
    if (isAgain === true) {
      const { flushUnchargedFailures } = await import("../runs/recovery/unsettled-starts.ts");
      await flushUnchargedFailures((await deps.research()).research);
    }
    return (await deps.findRun(owner, taskId)).taskId;
  };
  const newest = newestRuns?.get(taskId) ?? read();
  newestRuns?.set(taskId, newest);
  return newest;
}

interface Again {
  run: Run;
  input: PlanInput;
  newest: string;
}

/** The request of an unknown start that is sent again: a follow-up, a plan, the research of a plan, or a research. */
async function sentAgain(deps: OperationDeps, { run, input, newest }: Again) {
  const { query, model: agent = "", part, taskId } = run;
  const about = { ...aboutRun(input), current: newest };
  if (run.followupContext !== undefined)
    return { about, query, agent, followup: followupEstimate(run), isTable: isTableRun(run), charges: CHARGES };
  const { newestPlan } = await import("../runs/plan/plan-store.ts");
  const text = part === "research" ? (await newestPlan(await deps.database(), taskId))?.text : undefined;
  const stage = part === "plan" ? ("wanted" as const) : text === undefined ? undefined : { text };
  const before = storedEstimate.safeParse(run.estimate).data;
  return { about, query, agent, plan: stage, before, tokens: await tokensSent(run), charges: CHARGES };
}

const planToDecide = (run: Run, plan: Awaited<ReturnType<typeof planAnswer>>) => ({
  success: true,
  task_id: run.taskId,
  status: run.status,
  ...plan,
  message: "The plan waits for approval.",
  check_status_command: `check_research_status(task_id='${run.taskId}')`,
});

async function againAsFollowup(deps: OperationDeps, run: Run) {
  const { restartedFollowup } = await import("./followup/prepare.ts");
  return restartedFollowup(deps, run);
}

/** A follow-up keeps the estimate of its first start: its context is the same. */
const followupEstimate = ({ estimate }: Run) => storedEstimate.safeParse(estimate).data ?? null;

const range = z.object({ min: z.number(), likely: z.number(), max: z.number() });
const storedEstimate = z.looseObject({ agent: z.string(), minutes: range, usd: range });

const thrower = (refusal: AppError) => (): never => {
  throw refusal;
};

const MAY_CHARGE_TWICE = "The amount counts the first start too, which may be running already.";

/** A call that joined sent nothing, whatever becomes of the start. */
const messageOf = (kind: keyof typeof MESSAGE, run: Run): string =>
  kind === "joined" ? MESSAGE.joined : messageOnceAccepted(run, MESSAGE[kind]);

const MESSAGE = {
  adopted: "The interaction was adopted; the run is polled again.",
  polling: "The run is polled again; if its report is finished by now, it will be stored.",
  restarted: "The research was started again, as you requested.",
  joined:
    "Nothing was sent and nothing is charged for this call: another call has sent this start again, or resolved it.",
};
