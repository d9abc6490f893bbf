/** Route that reads the plan of a run, with what its research will probably cost. */

import type { Hono } from "hono";
import type { App } from "../../app.ts";
import type { CallerEnv } from "../../caller.ts";
import { AppError } from "../../errors.ts";
import { planAnswer } from "../../operations/parts/plan.ts";
import { questionFor } from "../../operations/perform.ts";
import { resumeResearch } from "../../operations/resume-research.ts";
import { cleanText } from "../../platform/clean-text.ts";
import { isoTime } from "../../platform/clock.ts";
import { plansOf } from "../../runs/plan/plan-store.ts";
import { jsonResponse } from "./json-response.ts";
import { requestedRun } from "./requested-run.ts";
import { consentQuestion } from "../consent.ts";
import type { PlanView } from "../wire.ts";

export function servePlans(web: Hono<CallerEnv>, { deps }: App): void {
  web.get("/api/runs/:id/plan", async (context) => {
    const run = await requestedRun(deps, context);
    const call = { ...context.get("caller"), client: undefined, signal: deps.leaving, progress: () => {} };
    const turns = await plansOf(await deps.database(), run.taskId);
    const newest = turns.at(-1);
    if (newest === undefined) throw withoutPlan();
    const decision = { task_id: run.taskId, plan_turn: newest.turn };
    const question = await questionFor(resumeResearch, deps, { input: { ...decision, approve: true }, call });
    const editQuestion = await questionFor(resumeResearch, deps, {
      input: { ...decision, plan_edit: newest.text },
      call,
    });
    const { estimated_cost } = await planAnswer(deps, call, run);
    const isWaiting = run.status === "awaiting_approval";
    const view: PlanView = {
      task_id: run.taskId,
      turn: newest.turn,
      text: cleanText(newest.text),
      changes: turns.flatMap(({ edit }) => (edit === undefined ? [] : [cleanText(edit)])),
      estimated_cost,
      expires_at: isWaiting && run.deadlineAt !== undefined ? isoTime(run.deadlineAt) : undefined,
      question: consentQuestion(question),
      edit_question: consentQuestion(editQuestion),
    };
    return jsonResponse(view);
  });
}

const withoutPlan = (): AppError =>
  new AppError({ code: "INVALID_INPUT", message: "This run has no plan.", details: { status: 404 } });
