/** Routes that act: ask, estimate, start, cancel, delete and resume, by the same operations as on every other transport. */

import type { Context, Hono } from "hono";
import type { z } from "zod";
import type { App } from "../../app.ts";
import { AppError } from "../../errors.ts";
import { cancelResearch } from "../../operations/cancel-research.ts";
import { deepSearchOperation } from "../../operations/deep-search.ts";
import { askFollowup } from "../../operations/followup/ask-followup.ts";
import { estimateResearchCost } from "../../operations/estimate-research-cost.ts";
import type { Call, Operation } from "../../operations/operation.ts";
import { clarificationFor, type Outcome, perform, performDetachable, questionFor } from "../../operations/perform.ts";
import { resumeResearch } from "../../operations/resume-research.ts";
import { planReplacement } from "../../runs/plan/run-plan.ts";
import { search } from "../../operations/search.ts";
import { startDeepResearch } from "../../operations/start-deep-research.ts";
import { readJsonBody } from "./json-body.ts";
import { createUploadReader, expectedTokens, type WithUploads } from "./uploads.ts";
import { outcomeResponse } from "./json-response.ts";
import type { CallerEnv } from "../../caller.ts";
import type { Acted, EstimateView } from "../wire.ts";

const CLIENT = "page";

export function serveResearch(web: Hono<CallerEnv>, app: App): void {
  const { deps } = app;
  const { act, callOf } = createActor(app);
  const readUploads = createUploadReader();
  web.post("/api/ask", async (context) => {
    const { depth, ...input } = await readJsonBody(context.req.raw);
    const operation = SEARCHES.get(String(depth));
    if (operation === undefined) throw unknownDepth();
    const started = await performDetachable(operation, deps, {
      input,
      call: callOf(context, false),
      answerWithinMs: 0,
    });
    if ("outcome" in started) return outcomeResponse(started.outcome);
    const structured = { task_id: started.taskId, status: "running" } satisfies Acted;
    return outcomeResponse({ failed: false, structured, text: "" });
  });
  web.post("/api/estimate", async (context) => {
    const { attachments, ...start } = await readJsonBody(context.req.raw);
    const { query, model } = start;
    const input = { query, ...(model === undefined ? {} : { model }) };
    const expected = expectedTokens(attachments);
    const outcome = await act(context, { operation: estimateResearchCost, input, expected });
    if (outcome.failed) return outcomeResponse(outcome);
    const asked = { input: start, call: { ...callOf(context, false), expectedTokens: expected } };
    const question = await questionFor(startDeepResearch, deps, asked);
    const clarification = await clarificationFor(startDeepResearch, deps, asked);
    const estimate = { ...outcome.structured, question: question?.because, clarification } satisfies EstimateView;
    return outcomeResponse({ ...outcome, structured: estimate });
  });
  web.post("/api/research", async (context) => {
    const start = async ({ body: { agreed, ...input }, uploads }: WithUploads): Promise<Response> =>
      acted(await act(context, { operation: startDeepResearch, input, agreed, uploads }));
    return readUploads(context.req.raw, start);
  });
}

type Body = Record<string, unknown>;

interface RunAct {
  operation: Operation<z.ZodObject, Acted & Body>;
  /** Without the `task_id`, which is in the path. */
  input: Body;
}

/** What is done with a stored run, by the last part of the path. */
const RUN_ACTS: Readonly<Record<string, (body: Body) => RunAct>> = {
  followup: ({ question, columns }) => ({ operation: askFollowup, input: { question, columns, wait: false } }),
  cancel: (input) => ({ operation: cancelResearch, input }),
  delete: ({ delete_at_google }) => ({ operation: cancelResearch, input: { delete: true, delete_at_google } }),
  resume: (input) => ({ operation: resumeResearch, input }),
  plan: ({ text }) => {
    const plan_edit = typeof text === "string" && text.trim() !== "" ? planReplacement(text.trim()) : "";
    return { operation: resumeResearch, input: { plan_edit } };
  },
  approve: () => ({ operation: resumeResearch, input: { approve: true } }),
};

export function serveRunActions(web: Hono<CallerEnv>, app: App): void {
  const { act } = createActor(app);
  for (const [name, actOf] of Object.entries(RUN_ACTS)) {
    web.post(`/api/runs/:id/${name}`, async (context) => {
      const { agreed, turn, ...body } = await readJsonBody(context.req.raw);
      const { operation, input } = actOf(body);
      return acted(
        await act(context, { operation, input: { ...input, task_id: context.req.param("id") }, agreed, turn }),
      );
    });
  }
}

/** Performs operations for the caller of a request. */
function createActor({ deps, shutdown }: App) {
  const callOf = (context: Context<CallerEnv>, agreed: unknown): Call => ({
    ...context.get("caller"),
    client: CLIENT,
    visualization: "auto",
    signal: deps.leaving,
    since: deps.clock.monotonic(),
    progress: () => {},
    agreed: agreed === true,
    // The dashboard does not wait for a report: a start returns when Google has accepted or refused it.
    returnWhen: AbortSignal.abort(),
  });
  /** Not aborted by a disconnect: the action is completed, and a process that shuts down waits for it. */
  const act = <Output extends Record<string, unknown>>(
    context: Context<CallerEnv>,
    { operation, input, agreed, turn, uploads, expected }: Act<Output>,
  ): Promise<Outcome<Output>> =>
    shutdown.during(
      perform(operation, deps, {
        input,
        call: { ...callOf(context, agreed), shownPlanTurn: turnIn(turn), uploads, expectedTokens: expected },
      }),
    );
  return { act, callOf };
}

/** Searches run in this process; the page follows them like any other run. */
const SEARCHES: ReadonlyMap<string, Operation> = new Map([
  ["search", search],
  ["deep_search", deepSearchOperation],
]);

const unknownDepth = (): AppError =>
  new AppError({ code: "INVALID_INPUT", message: `depth must be ${[...SEARCHES.keys()].join(" or ")}.` });

interface Act<Output extends Record<string, unknown>> {
  operation: Operation<z.ZodObject, Output>;
  input: unknown;
  agreed?: unknown;
  /** Of the plan that the page shows. */
  turn?: unknown;
  uploads?: WithUploads["uploads"] | undefined;
  /** Tokens of files that will be uploaded with the start. */
  expected?: number | undefined;
}

function turnIn(turn: unknown): number | undefined {
  if (turn === undefined || typeof turn === "number") return turn;
  throw new AppError({ code: "INVALID_INPUT", message: "turn must be a number." });
}

/** Without the report of a joined run, which has its own route. */
function acted(outcome: Outcome<Acted & Record<string, unknown>>): Response {
  if (outcome.failed) return outcomeResponse(outcome);
  const { task_id, status, message, joined, notice } = outcome.structured;
  return outcomeResponse({ ...outcome, structured: { task_id, status, message, joined, notice } satisfies Acted });
}
