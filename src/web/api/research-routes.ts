/** What the page can do: estimate, start, cancel and resume, through the same operations as every other door. */

import type { Context, Hono } from "hono";
import type { z } from "zod";
import type { App } from "../../app.ts";
import { cancelResearch } from "../../operations/cancel-research.ts";
import { estimateResearchCost } from "../../operations/estimate-research-cost.ts";
import type { Call, Operation } from "../../operations/operation.ts";
import { type Outcome, perform, questionFor } from "../../operations/perform.ts";
import { resumeResearch } from "../../operations/resume-research.ts";
import { startDeepResearch } from "../../operations/start-deep-research.ts";
import { readJsonBody } from "./json-body.ts";
import { answerOf } from "./refused.ts";
import type { WebEnv } from "../caller.ts";
import type { Acted, EstimateView } from "../wire.ts";

const CLIENT = "page";

export function serveResearch(web: Hono<WebEnv>, { deps, shutdown }: App): void {
  /** Also for a page that has gone away: what was asked for is done, and a process that leaves waits for it. */
  const act = <Output extends Record<string, unknown>>(
    context: Context<WebEnv>,
    { operation, input, agreed }: Act<Output>,
  ): Promise<Outcome<Output>> => shutdown.during(perform(operation, deps, { input, call: callOf(context, agreed) }));
  const callOf = (context: Context<WebEnv>, agreed: unknown): Call => ({
    ...context.get("caller"),
    client: CLIENT,
    signal: deps.leaving,
    since: deps.clock.monotonic(),
    progress: () => {},
    agreed: agreed === true,
    // The page does not wait for a report: a start is answered when Google has answered.
    returnWhen: AbortSignal.abort(),
  });

  web.post("/api/estimate", async (context) => {
    const start = await readJsonBody(context.req.raw);
    const { query, model } = start;
    const input = { query, ...(model === undefined ? {} : { model }) };
    const outcome = await act(context, { operation: estimateResearchCost, input });
    if (outcome.failed) return answerOf(outcome);
    const question = await questionFor(startDeepResearch, deps, { input: start, call: callOf(context, false) });
    const estimate = { ...outcome.structured, question: question?.because } satisfies EstimateView;
    return answerOf({ ...outcome, structured: estimate });
  });
  web.post("/api/research", async (context) => {
    const { agreed, ...input } = await readJsonBody(context.req.raw);
    return acted(await act(context, { operation: startDeepResearch, input, agreed }));
  });
  web.post("/api/runs/:id/cancel", async (context) => {
    const body = await readJsonBody(context.req.raw);
    const input = { ...body, task_id: context.req.param("id") };
    return acted(await act(context, { operation: cancelResearch, input }));
  });
  web.post("/api/runs/:id/delete", async (context) => {
    const { delete_at_google } = await readJsonBody(context.req.raw);
    const input = { delete: true, delete_at_google, task_id: context.req.param("id") };
    return acted(await act(context, { operation: cancelResearch, input }));
  });
  web.post("/api/runs/:id/resume", async (context) => {
    const { agreed, ...body } = await readJsonBody(context.req.raw);
    const input = { ...body, task_id: context.req.param("id") };
    return acted(await act(context, { operation: resumeResearch, input, agreed }));
  });
}

interface Act<Output extends Record<string, unknown>> {
  operation: Operation<z.ZodObject, Output>;
  input: unknown;
  agreed?: unknown;
}

/** The report of a run that was joined is read at its own address. */
function acted(outcome: Outcome<Acted & Record<string, unknown>>): Response {
  if (outcome.failed) return answerOf(outcome);
  const { task_id, status, message, joined, notice } = outcome.structured;
  return answerOf({ ...outcome, structured: { task_id, status, message, joined, notice } satisfies Acted });
}
