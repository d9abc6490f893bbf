/** `start_deep_research`: a paid run of Google's Deep Research agent that outlives the call, the client and us. */

import { z } from "zod";
import { AppError } from "../errors.ts";
import { currentAgent, DEFAULT_AGENT } from "../gemini/agents.ts";
import { readStored } from "../runs/read.ts";
import { isFinished, type Run } from "../runs/run.ts";
import { waitForRun } from "../runs/wait.ts";
import { factLines, list } from "./answer-text.ts";
import { resultMetadata, resultMetadataSchema, sourceLine, sourceSchema } from "./get-research-results.ts";
import { type Call, defineOperation, type OperationDeps, outputSchema, queryText } from "./operation.ts";

/** I3: an answer within 30 s whatever happens; the request itself may take longer and goes on. */
const ANSWER_WITHIN_MS = 29_000;
const ACCEPTANCE_WITHIN_MS = 25_000;

const HOURS = "max_wait_hours must be a whole number from 1 to 24.";

export const startDeepResearch = defineOperation({
  name: "start_deep_research",
  title: "Start deep research",
  description:
    "Starts Google's Deep Research agent on a question: dozens of searches, a long report with citations. Use it for broad or hard questions that deserve an hour and some dollars. Not for look-ups (search) or for one question to be checked (deep_search). Costs about $1 to $7 and takes 5 to 60 minutes in the background; estimate_research_cost says more and is free. Answers within 30 s with a task_id: the research goes on at Google even if this client closes. Follow it with check_research_status, read it with get_research_results. Asking the same again within 10 minutes joins the run instead of paying twice.",
  input: z.strictObject({
    query: queryText("query").describe("The research question, as precisely as possible (3 to 10,000 characters)."),
    enable_notifications: z
      .boolean({ error: "enable_notifications must be true or false." })
      .default(true)
      .describe("Desktop notification when it is done."),
    max_wait_hours: z
      .int({ error: HOURS })
      .min(1, { error: HOURS })
      .max(24, { error: HOURS })
      .default(8)
      .describe("After this long the run counts as timed out here, 1 to 24."),
    model: z
      .string({ error: "model must be the name of an agent." })
      .regex(/^[a-z0-9][a-z0-9.-]{2,80}$/, { error: "model must be the name of an agent." })
      .default(DEFAULT_AGENT)
      .describe("The agent: deep-research-preview-04-2026, or deep-research-max-preview-04-2026 for more depth."),
    force_new: z
      .boolean({ error: "force_new must be true or false." })
      .default(false)
      .describe("Start (and pay) again even if the same research was started minutes ago."),
  }),
  output: outputSchema({
    mode: z.string().describe("sync: finished within the call; async: goes on in the background."),
    results: z.looseObject({
      report: z.string(),
      sources: z.array(sourceSchema),
      metadata: resultMetadataSchema,
    }),
    cost_usd: z.number(),
    message: z.string(),
    check_status_command: z.string(),
    joined: z.boolean().describe("True when an identical run was found instead of starting one."),
    notice: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  positional: "query",
  waitFlag: "wait",
  run: async (deps, input, call) => {
    const calledAt = deps.clock.now();
    const { agent, notice } = currentAgent(input.model);
    const { research, runner, durable } = await deps.research();
    if (!durable) throw notDurable();
    const { startResearch } = await import("../runs/start.ts");
    const started = await startResearch(research, {
      owner: call.owner,
      client: call.client,
      query: input.query,
      agent,
      enableNotifications: input.enable_notifications,
      maxWaitMs: input.max_wait_hours * 3_600_000,
      forceNew: input.force_new,
      estimate: { ...(await deps.estimate(input.query, agent, call.owner)) },
    });
    const { taskId } = started;
    call.progress(`Started deep research, task_id ${taskId}`);
    const sending = started.kind === "started" ? started.sending : undefined;
    const accepted = await acceptedRun(deps, { owner: call.owner, taskId, sending });
    runner.start();
    if (accepted.interactionId !== undefined) {
      runner.watch({ taskId, interactionId: accepted.interactionId, agent, createdAt: accepted.createdAt });
    }
    const announce = announcer(call);
    const window = Math.min(deps.settings.syncWindowMs, ANSWER_WITHIN_MS - (deps.clock.now() - calledAt));
    const run = await waitForRun(research.db, deps.clock, {
      owner: call.owner,
      taskId,
      until: (seen) => {
        announce(seen);
        return isFinished(seen.status);
      },
      ms: started.kind === "joined" ? 0 : Math.max(0, window),
      signal: call.signal,
    });
    const about = {
      ...(started.kind === "joined" ? { joined: true } : {}),
      ...(notice === undefined ? {} : { notice }),
    };
    if (run.status === "completed") return completed(deps, { run, call, about, joined: started.kind === "joined" });
    if (isFinished(run.status)) throw failedStart(run);
    return {
      success: true,
      results: undefined,
      task_id: taskId,
      status: "running_async",
      mode: "async",
      message: run.enableNotifications
        ? "Research running in background. Notification when complete."
        : "Research running in background.",
      check_status_command: `check_research_status(task_id='${taskId}')`,
      ...about,
    };
  },
  toText: ({ results, success: _success, ...rest }) =>
    [
      ...(results === undefined ? [] : [results.report.trim(), ...list("Sources", results.sources.map(sourceLine))]),
      factLines({ ...rest, ...results?.metadata }),
    ].join("\n\n"),
});

/** Whoever waits hears of every new action, and each is said once. */
function announcer(call: Call): (run: Run) => void {
  let said: string | undefined;
  return ({ currentAction, progress }) => {
    if (currentAction === undefined || currentAction === said) return;
    said = currentAction;
    call.progress(`${progress} % (estimate): ${currentAction}`);
  };
}

interface Completed {
  run: Run;
  call: Call;
  about: { joined?: boolean; notice?: string };
  joined: boolean;
}

async function completed(deps: OperationDeps, { run, call, about, joined }: Completed) {
  const db = await deps.database();
  // A run that somebody else waited for, or that was finished before, keeps the mode it had.
  const { markSync } = await import("../runs/start-store.ts");
  if (!joined) await markSync(db, run.taskId);
  const stored = await readStored(db, call.owner, run.taskId);
  const { report = "", sources = [] } = stored.result ?? {};
  return {
    success: true,
    task_id: run.taskId,
    status: "completed",
    mode: stored.run.mode ?? "sync",
    results: { report, sources, metadata: resultMetadata(stored.run, sources.length, deps.clock.now()) },
    cost_usd: stored.run.costUsd,
    ...about,
  };
}

/** Waits for Google's answer to the one request. Throws what became of it, unless that is good or not known yet. */
export async function acceptedRun(
  deps: OperationDeps,
  { owner, taskId, sending }: { owner: string; taskId: string; sending: Promise<void> | undefined },
): Promise<Run> {
  if (sending !== undefined) await atMost(deps, ACCEPTANCE_WITHIN_MS, sending);
  // A run that was joined may still be on its way to Google, from whatever process.
  const run = await waitForRun(await deps.database(), deps.clock, {
    owner,
    taskId,
    until: ({ status }) => status !== "pending",
    ms: sending === undefined ? ACCEPTANCE_WITHIN_MS : 0,
  });
  if (run.status === "start_unknown") throw startUnknown(run);
  if (run.status === "failed") throw failedStart(run);
  return run;
}

async function atMost(deps: OperationDeps, ms: number, work: Promise<void>): Promise<void> {
  const controller = new AbortController();
  await Promise.race([work, deps.clock.sleep(ms, controller.signal).catch(() => undefined)]);
  controller.abort();
}

function notDurable(): AppError {
  return new AppError({
    code: "SQLITE_ERROR",
    message: "The database cannot be written, so a paid run could be lost. Nothing was started.",
    suggestion: "Make the config directory writable, or set GEMINI_SEARCH_CONFIG_DIR.",
  });
}

function startUnknown(run: Run): AppError {
  return new AppError({
    code: "START_UNKNOWN",
    message: run.error?.message ?? "Nobody knows whether the research was started.",
    suggestion:
      "It is not repeated by itself, because it may be running and charged. resume_research adopts its interaction_id (AI Studio shows it), or starts again with accept_possible_double_charge.",
    run: { task_id: run.taskId, status: run.status, progress: run.progress },
  });
}

function failedStart(run: Run): AppError {
  const codes = ["GEMINI_UNAVAILABLE", "EXECUTION_ERROR", "SQLITE_ERROR", "DISK_FULL", "RESEARCH_FAILED"] as const;
  const cancelled = run.status === "cancelled";
  return new AppError({
    code: cancelled ? "CANCELLED" : (codes.find((code) => code === run.error?.code) ?? "RESEARCH_FAILED"),
    message: run.error?.message ?? (cancelled ? "The run was cancelled." : "The research ended without a report."),
    suggestion:
      run.interactionId === undefined ? notCharged(run) : "check_research_status and get_research_results say more.",
    run: { task_id: run.taskId, status: run.status, progress: run.progress },
  });
}

const notCharged = ({ error }: Run): string =>
  error?.code === "GEMINI_UNAVAILABLE"
    ? "Nothing was charged. Check GEMINI_API_KEY (a paid plan is needed), the network and the quota, then start again."
    : "Nothing was charged. Check the name of the model, shorten or rephrase the question, then start again.";
