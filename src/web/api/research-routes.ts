/** Routes that act: ask, estimate, start, cancel, delete and resume, by the same operations as on every other transport. */

import type { Context, Hono } from "hono";
import type { z } from "zod";
import type { App } from "../../app.ts";
import { AppError } from "../../errors.ts";
import { uuidOf } from "../../platform/uuid.ts";
import { cancelResearch } from "../../operations/cancel-research.ts";
import { deepSearchOperation } from "../../operations/deep-search.ts";
import { askFollowup } from "../../operations/followup/ask-followup.ts";
import { estimateResearchCost } from "../../operations/estimate-research-cost.ts";
import type { Call, Operation } from "../../operations/operation.ts";
import {
  clarificationFor,
  type Outcome,
  perform,
  performDetachable,
  questionFor,
  type TaskOrOutcome,
} from "../../operations/perform.ts";
import type { Subject } from "../../operations/question/subject.ts";
import { resumeResearch } from "../../operations/resume-research.ts";
import { planReplacement } from "../../runs/plan/plan-store.ts";
import { aboutRun, type Run, STATUS_LABELS } from "../../runs/run.ts";
import { findRuns } from "../../runs/run-store.ts";
import { search } from "../../operations/search.ts";
import { startDeepResearch } from "../../operations/start-deep-research.ts";
import { outcomeResponse, readJsonBody } from "./json.ts";
import { createUploadReader, expectedTokens, type WithUploads } from "./uploads.ts";
import type { CallerEnv } from "../../caller.ts";
import { consentQuestion, consentTo } from "../consent.ts";
import type { Acted, EstimateView } from "../wire.ts";

const CLIENT = "page";

export function serveResearch(web: Hono<CallerEnv>, app: App): void {
  const { deps } = app;
  const { act, callOf } = createActor(app);
  const readUploads = createUploadReader();
  /** Searches that are being stored. */
  const starting = new Map<string, Promise<TaskOrOutcome>>();
  web.post("/api/ask", async (context) => {
    const { depth, request_id: requestId, ...input } = await readJsonBody(context.req.raw);
    const operation = SEARCHES.get(String(depth));
    if (operation === undefined) throw unknownDepth();
    const start = (newTaskId?: string): Promise<TaskOrOutcome> =>
      performDetachable(operation, deps, { input, call: { ...callOf(context), newTaskId }, answerWithinMs: 0 });
    if (requestId === undefined) return searchAnswer(await start());
    const { owner } = context.get("caller");
    // The same question with the same id, sent again because the answer was lost, is the same run.
    const taskId = uuidOf([owner, requestId, depth, input]);
    const [known] = await findRuns(await deps.database(), owner, [taskId]);
    if (known !== undefined) return searchAnswer(known);
    const started = starting.get(taskId) ?? start(taskId);
    starting.set(taskId, started);
    return searchAnswer(await started.finally(() => starting.delete(taskId)));
  });
  web.post("/api/estimate", async (context) => {
    const { attachments, ...start } = await readJsonBody(context.req.raw);
    const { query, model } = start;
    const input = { query, ...(model === undefined ? {} : { model }) };
    const expected = expectedTokens(attachments);
    const outcome = await act(context, { operation: estimateResearchCost, input, expected });
    if (outcome.failed) return outcomeResponse(outcome);
    const asked = { input: start, call: { ...callOf(context), expectedTokens: expected } };
    const question = consentQuestion(await questionFor(startDeepResearch, deps, asked));
    const isVague = (await clarificationFor(startDeepResearch, deps, asked)) !== undefined;
    const { owner } = context.get("caller");
    const planned = { query: String(query), agent: outcome.structured.model, owner, plan: "wanted" } as const;
    const plan = start["plan"] === true ? await deps.estimatePlan(planned) : undefined;
    const estimate = {
      ...outcome.structured,
      question,
      is_vague: isVague,
      plan_usd: plan?.usd.likely,
    } satisfies EstimateView;
    return outcomeResponse({ ...outcome, structured: estimate });
  });
  web.post("/api/research", async (context) => {
    const operation = startDeepResearch;
    const start = async ({ body: { agreed, ...input }, uploads }: WithUploads): Promise<Response> =>
      acted(await act(context, { operation, input, consent: consentTo({ operation, input, agreed }), uploads }));
    return readUploads({ request: context.req.raw, owner: context.get("caller").owner }, start);
  });
}

type Body = Record<string, unknown>;

interface RunAct {
  operation: Operation<z.ZodObject, Acted & Body>;
  /** Without the `task_id`, which is in the path. */
  input: Body;
  /** A dialog of the page, which showed the run in this state, has asked the operation's question. */
  seenStatus?: string;
}

/** What is done with a stored run, by the last part of the path. */
const RUN_ACTS: Readonly<Record<string, (body: Body) => RunAct>> = {
  followup: ({ question, columns }) => ({ operation: askFollowup, input: { question, columns, wait: false } }),
  cancel: (input) => ({ operation: cancelResearch, input }),
  delete: ({ delete_at_google, seen_status }) => ({
    operation: cancelResearch,
    input: { delete: true, delete_at_google },
    seenStatus: String(seen_status),
  }),
  resume: (input) => ({ operation: resumeResearch, input }),
  plan: ({ text, turn }) => {
    const plan_edit = typeof text === "string" && text.trim() !== "" ? planReplacement(text.trim()) : "";
    return { operation: resumeResearch, input: { plan_edit, plan_turn: turn } };
  },
  approve: ({ turn }) => ({ operation: resumeResearch, input: { approve: true, plan_turn: turn } }),
};

export function serveRunActions(web: Hono<CallerEnv>, app: App): void {
  const { deps } = app;
  const { act, callOf } = createActor(app);
  for (const [name, actOf] of Object.entries(RUN_ACTS)) {
    web.post(`/api/runs/:id/${name}`, async (context) => {
      const { agreed, ...body } = await readJsonBody(context.req.raw);
      const { operation, input: given, seenStatus } = actOf(body);
      const taskId = context.req.param("id");
      const input = { ...given, task_id: taskId };
      let consent = consentTo({ operation, input, agreed });
      if (seenStatus !== undefined) {
        const call = callOf(context);
        consent = (await questionFor(operation, deps, { input, call }))?.subject;
        if (consent !== undefined) requireSeen(await deps.findRun(call.owner, taskId), seenStatus);
      }
      return acted(await act(context, { operation, input, consent }));
    });
  }
}

/** Read after the question, which is refused if the run ends between the two. */
function requireSeen(run: Run, seenStatus: string): void {
  const { status } = run;
  if (status === seenStatus) return;
  throw new AppError({
    code: "CONFIRMATION_NEEDED",
    message: `The run has changed since you were asked: it is now ${STATUS_LABELS[status].toLowerCase()}. Nothing was deleted.`,
    suggestion: "Look at it, then delete it if you still want to.",
    run: aboutRun(run),
  });
}

/** Performs operations for the caller of a request. */
export function createActor({ deps, shutdown }: App) {
  const callOf = (context: Context<CallerEnv>): Call => ({
    ...context.get("caller"),
    client: CLIENT,
    visualization: "auto",
    signal: deps.leaving,
    since: deps.clock.monotonic(),
    progress: () => {},
    // The page does not wait for a report: a start returns when Google has accepted or refused it.
    returnWhen: AbortSignal.abort(),
  });
  /** Not aborted by a disconnect: the action is completed, and a process that shuts down waits for it. */
  const act = async <Output extends Record<string, unknown>>(
    context: Context<CallerEnv>,
    { operation, input, consent, uploads, expected }: Act<Output>,
  ): Promise<Outcome<Output>> => {
    const call = { ...callOf(context), uploads, expectedTokens: expected };
    const outcome = await shutdown.during(perform(operation, deps, { input, call: { ...call, agreed: consent } }));
    if (!outcome.failed || outcome.structured.error.code !== "CONFIRMATION_NEEDED") return outcome;
    const question = consentQuestion(await questionFor(operation, deps, { input, call }));
    const { error } = outcome.structured;
    return {
      ...outcome,
      structured: { ...outcome.structured, error: { ...error, details: { ...error.details, question } } },
    };
  };
  return { act, callOf };
}

/** Searches run in this process; the page follows them like any other run. */
const SEARCHES: ReadonlyMap<string, Operation> = new Map([
  ["search", search],
  ["deep_search", deepSearchOperation],
]);

const unknownDepth = (): AppError =>
  new AppError({ code: "INVALID_INPUT", message: `depth must be ${[...SEARCHES.keys()].join(" or ")}.` });

function searchAnswer(started: TaskOrOutcome | Pick<Run, "taskId" | "status">): Response {
  if ("outcome" in started) return outcomeResponse(started.outcome);
  const status = "status" in started ? started.status : "running";
  return outcomeResponse({ failed: false, structured: { task_id: started.taskId, status } satisfies Acted, text: "" });
}

interface Act<Output extends Record<string, unknown>> {
  operation: Operation<z.ZodObject, Output>;
  input: unknown;
  /** What the user has agreed to on the page. */
  consent?: Subject | undefined;
  uploads?: WithUploads["uploads"] | undefined;
  /** Tokens of files that will be uploaded with the start. */
  expected?: number | undefined;
}

/** Without the report of a joined run, which has its own route. */
function acted(outcome: Outcome<Acted & Record<string, unknown>>): Response {
  if (outcome.failed) return outcomeResponse(outcome);
  const { task_id, status, message, joined, notice } = outcome.structured;
  return outcomeResponse({ ...outcome, structured: { task_id, status, message, joined, notice } satisfies Acted });
}
