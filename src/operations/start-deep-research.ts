/** `start_deep_research`: starts a paid run of Google's Deep Research agent, which outlives the call and this process. */

import { z } from "zod";
import { LOCAL_OWNER } from "../caller.ts";
import { currentAgent, DEFAULT_AGENT, type Material, type RequestVariant } from "../gemini/research-agent.ts";
import { readStored } from "../runs/history/read.ts";
import { estimateOf, usualMinutes } from "../runs/history/run-estimate.ts";
import { isFinished, type Run } from "../runs/run.ts";
import { drawsPictures } from "../runs/start/start-options.ts";
import {
  ANSWER_WITHIN_MS,
  failedStart,
  followStarted,
  joinedNotice,
  messageOnceAccepted,
  requireDurable,
} from "./start/started-run.ts";
import { finishedResearch, researchText } from "./start/finished-research.ts";
import { costSchema } from "./view/run-view.ts";
import {
  costQuestion,
  estimateFor,
  type PaidStart,
  requireCostConsent,
  runAgreedTo,
} from "./parts/cost-confirmation.ts";
import { dollars } from "../costs/dollars.ts";
import { pictureField, suggestionsField } from "./parts/answer-text.ts";
import { type GivenMaterial, hasMaterial, materialFields, readMaterial, withFiles } from "./parts/material.ts";
import { materialField, materialSent } from "./view/sent-material.ts";
import { limitOf, readingFields } from "./reading/report-reading.ts";
import { NO_PLAN, planFields, planned } from "./parts/plan.ts";
import { questionWithWishes, type Wishes } from "../search/wishes.ts";
import { beginningWithDetails, clarifyingQuestion, isVague } from "./question/vague-question.ts";
import { wishesOf, withWishes } from "./question/wishes.ts";
import { resultMetadataSchema, sourceSchema, wholeOf } from "./view/whole-view.ts";
import {
  type Call,
  defineOperation,
  flagField,
  hashOfInput,
  type OperationDeps,
  outputSchema,
  queryField,
  wholeNumberField,
} from "./operation.ts";

const HOUR_MS = 3_600_000;
const START = "start_deep_research";
/** Below the time after which clients end a call. */
const POLL_WAIT_SECONDS = 45;
const RUNNING = "Research running in background.";
const NOTIFIED = `${RUNNING} Notification when complete.`;

export const startDeepResearch = defineOperation({
  name: START,
  title: "Deep research",
  description:
    "Costs about $1 to $11 and takes 5 to 60 minutes: starts Google's Deep Research agent, which writes a long report with citations. For broad or difficult questions; for look-ups: search; to verify one answer: deep_search. Returns a task_id within 30 s. As an MCP task the report arrives on its own; otherwise call check_research_status with wait_seconds 45 until completed, then get_research_results. The same start within 10 minutes joins the first.",
  input: withWishes({
    query: queryField("query").describe("The research question, as precisely as possible."),
    enable_notifications: flagField("enable_notifications")
      .default(true)
      .describe("Desktop notification when it is done."),
    max_wait_hours: wholeNumberField("max_wait_hours", { min: 1, max: 72 })
      .default(8)
      .describe("Stop waiting after this many hours."),
    model: z
      .string({ error: "{model} must be the name of an agent." })
      .regex(/^[a-z0-9][a-z0-9.-]{2,80}$/, { error: "{model} must be the name of an agent." })
      .default(DEFAULT_AGENT)
      .describe("The agent; deep-research-max-preview-04-2026 is more thorough."),
    force_new: flagField("force_new").default(false).describe("Start and pay again instead of joining."),
    plan: flagField("plan").default(false).describe("First a plan, for cents; resume_research approves it."),
    visualization: z
      .enum(["auto", "off"], { error: "{visualization} must be auto or off." })
      .optional()
      .describe("Charts, if asked for."),
    ...materialFields,
  }),
  output: outputSchema({
    mode: z.string().describe("sync: finished within the call; async: continues in the background."),
    results: z.looseObject({
      report: z.string(),
      complete: readingFields.complete.optional(),
      outline: readingFields.outline.optional(),
      next_section: readingFields.next_section.optional(),
      note: z.string().optional().describe("What is special about the report, or how to read on."),
      pictures: pictureField,
      search_suggestions: suggestionsField,
      sources: z.array(sourceSchema),
      metadata: resultMetadataSchema,
    }),
    ...costSchema,
    ...planFields,
    material: materialField,
    message: z.string(),
    check_status_command: z.string(),
    wait_seconds: z.number().describe("For check_research_status."),
    expected_minutes: z.number(),
    expected_cost_usd: z.number().describe("Absent without a price."),
    joined: z.boolean().describe("True when an identical run was found instead of starting one."),
    notice: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  positional: "query",
  webText: ["results", "plan"],
  waitFlag: "wait",
  question: async (deps, given, call) => {
    const { material, tokens, files } = await readMaterial(deps, call, given);
    const input = await asClarifiedBefore(deps, { ...given, material }, call);
    const { query, force_new: forceNew } = input;
    const { agent } = currentAgent(input.model);
    const plan = input.plan ? ("wanted" as const) : undefined;
    const answered = answerTo(deps, input, call);
    const cost = await costQuestion(deps, call, { about: aboutStart(given), query, agent, plan, tokens, answered });
    const question = cost && withFiles(cost, files);
    if (question === undefined || forceNew) return question;
    // Joining a run costs nothing.
    return (await joinsRun(deps, input, call)) ? undefined : question;
  },
  clarify: async (deps, given, call) => {
    // A plan is a question back, too, and material may say what the question leaves open.
    if (given.force_new || given.plan || !isVague(given.query) || hasMaterial(call, given)) return undefined;
    const input = await asClarifiedBefore(deps, { ...given, material: undefined }, call);
    // Without a key nothing is started, and a start that joins a run costs nothing.
    if ((await deps.agent()) === undefined || (await joinsRun(deps, input, call))) return undefined;
    const { agent } = currentAgent(input.model);
    const estimate = await estimateFor(deps, call, { query: input.query, agent });
    return clarifyingQuestion(estimate && dollars(estimate.usd.likely));
  },
  run: async (deps, requested, call) => {
    const given = await readMaterial(deps, call, requested);
    const input = await asClarifiedBefore(deps, { ...requested, material: given.material }, call);
    const answerBy = (call.since ?? deps.clock.monotonic()) + ANSWER_WITHIN_MS;
    const { agent, notice } = currentAgent(input.model);
    const started = await start(deps, call, { subject: aboutStart(requested), input, agent, notice, given });
    const waitMs = started.kind === "joined" ? 0 : deps.settings.syncWindowMs;
    const run = await followStarted(deps, call, { started, message: "Starting deep research", answerBy, waitMs });
    const visualization = input.visualization ?? call.visualization;
    const joined = started.kind === "joined" ? noticesOfJoined(run, deps.clock.now(), visualization) : [];
    // What was stored with the run also names the budgets of which it reaches a threshold.
    const stated = started.kind === "joined" ? notice : noticeOf(run);
    const notices = [...joined, ...(stated === undefined ? [] : [stated])];
    const about = {
      ...(joined.length === 0 ? {} : { joined: true }),
      ...(notices.length === 0 ? {} : { notice: notices.join(" ") }),
    };
    if (run.status === "completed") {
      const stored = await readStored(await deps.database(), call.owner, run.taskId);
      return finishedResearch(await wholeOf(stored, { now: deps.clock.now() }), limitOf(call), about);
    }
    if (run.status === "awaiting_approval") return { ...(await planned(deps, call, run)), ...about };
    if (isFinished(run.status)) throw failedStart(run);
    const isNotified = run.enableNotifications && (await deps.canNotify());
    return {
      success: true,
      results: undefined,
      task_id: started.taskId,
      status: "running_async" as const,
      mode: "async",
      ...NO_PLAN,
      message: messageOnceAccepted(run, isNotified ? NOTIFIED : RUNNING),
      check_status_command: `check_research_status(task_id='${started.taskId}')`,
      wait_seconds: POLL_WAIT_SECONDS,
      expected_minutes: Math.round(usualMinutes(run).likely),
      expected_cost_usd: estimateOf(run.estimate).usd?.likely,
      material: materialSent(run),
      ...about,
    };
  },
  task: {
    kind: "agent",
    isUnfinished: ({ status }) => status === "running_async",
    answer: async (deps, stored, reader) => {
      const { run, plan } = stored;
      // The research of the plan may be in progress by now.
      if (!isFinished(run.status) && plan !== undefined) return { ...(await planned(deps, reader, run)), plan };
      if (run.status !== "completed") throw failedStart(run);
      const whole = await wholeOf(stored, { now: deps.clock.now() });
      return finishedResearch(whole, limitOf(reader), whole.notice === undefined ? {} : { notice: whole.notice });
    },
  },
  picturesOf: ({ task_id, results }) => ({ taskId: task_id, links: results?.pictures ?? [] }),
  toText: (output) => researchText(output),
});

const noticeOf = ({ options: { notice } }: Run): string | undefined =>
  typeof notice === "string" ? notice : undefined;

/** A start that asks for charts joins a run without them, too, so that it is not paid for twice. */
function noticesOfJoined(run: Run, now: number, visualization: Visualization | undefined): string[] {
  const isWithoutCharts = visualization === "auto" && !drawsPictures(run.options);
  return [joinedNotice(run, now), ...(isWithoutCharts ? ["It was started without charts."] : [])];
}

const aboutStart = (input: Record<string, unknown>) => ({ operation: START, input: hashOfInput(input) });

interface StartRequest {
  /** What a yes agrees to, besides the price. */
  subject: ReturnType<typeof aboutStart>;
  input: Wishes & {
    query: string;
    enable_notifications: boolean;
    max_wait_hours: number;
    force_new: boolean;
    plan: boolean;
    visualization?: Visualization | undefined;
  };
  agent: string;
  notice: string | undefined;
  given: GivenMaterial;
}

/** Sends the paid start, or joins an identical run, once the user has agreed to the cost where that is required. */
async function start(deps: OperationDeps, call: Call, { subject, input, agent, notice, given }: StartRequest) {
  const { research, obstacle } = await deps.research();
  await requireDurable({ obstacle });
  const { startResearch } = await import("../runs/start/start.ts");
  const { query } = input;
  const plan = input.plan ? "wanted" : undefined;
  const { material, files, tokens } = given;
  return startResearch(research, {
    ...(await requireCostConsent(deps, call, { about: subject, query, agent, plan, tokens })),
    signal: call.signal,
    occurrence: call.occurrence,
    owner: call.owner,
    client: call.client,
    query,
    agent,
    // Remote callers never get notifications on the server's desktop.
    enableNotifications: input.enable_notifications && call.owner === LOCAL_OWNER,
    maxWaitMs: input.max_wait_hours * HOUR_MS,
    callerWaitsMs: deps.settings.syncWindowMs === 0 ? 0 : ANSWER_WITHIN_MS,
    forceNew: input.force_new,
    taskId: runAgreedTo(call, subject),
    variant: variantFor({ ...input, material, visualization: input.visualization ?? call.visualization }),
    wishes: wishesOf(input),
    notice,
    files,
  });
}

interface Asked extends Wishes {
  query: string;
  plan: boolean;
  material: Material | undefined;
  visualization?: Visualization | undefined;
}

type Visualization = "auto" | "off";

/** Plan, wishes and material are part of the request, so a start with other wishes is another start. */
function variantFor({ query, plan, material, visualization, ...input }: Asked): RequestVariant | undefined {
  const wishes = wishesOf(input);
  const variant: RequestVariant = {
    ...(plan ? { collaborativePlanning: true } : {}),
    ...(visualization === "auto" ? { visualization } : {}),
    ...(wishes === undefined ? {} : { input: questionWithWishes(query, wishes) }),
    ...(material === undefined ? {} : { material }),
  };
  return Object.keys(variant).length === 0 ? undefined : variant;
}

interface StartInput extends Asked {
  model: string;
  force_new: boolean;
}

/** Finds a report of the same question with the same wishes, unless another one is wanted. */
function answerTo(deps: OperationDeps, input: StartInput, { owner }: Call): PaidStart["answered"] {
  const { force_new: forceNew, query, material } = input;
  if (forceNew || material !== undefined) return undefined;
  return async () => {
    const { findAnswer } = await import("./question/asked-before.ts");
    const { agent } = currentAgent(input.model);
    return findAnswer(deps, { owner, query, agent, wishes: wishesOf(input) });
  };
}

/** Whether the start would join a run instead of being paid for; a prediction until the start is committed. */
async function joinsRun(deps: OperationDeps, input: StartInput, { owner }: Call): Promise<boolean> {
  const { findSameStart, joinKeyOf } = await import("../runs/start/duplicate-start-store.ts");
  const { query } = input;
  const { agent } = currentAgent(input.model);
  const joinKey = joinKeyOf({ owner, query, agent, variant: variantFor(input) });
  return (await findSameStart(await deps.database(), { owner, joinKey, now: deps.clock.now() })) !== undefined;
}

/**
 * The question as the user made it more precise minutes ago, if it is vague: a call that is repeated because its answer
 * was lost joins that run instead of asking and paying again. Only a start that joins is changed: with other options it
 * may mean something else.
 */
async function asClarifiedBefore<Input extends StartInput>(
  deps: OperationDeps,
  input: Input,
  call: Call,
): Promise<Input> {
  if (input.force_new || !isVague(input.query) || (await joinsRun(deps, input, call))) return input;
  const { findLongerQuestions } = await import("../runs/start/duplicate-start-store.ts");
  const { owner } = call;
  const beginning = beginningWithDetails(input.query);
  for (const query of await findLongerQuestions(await deps.database(), { owner, beginning, now: deps.clock.now() })) {
    const precise = { ...input, query };
    if (await joinsRun(deps, precise, call)) return precise;
  }
  return input;
}
