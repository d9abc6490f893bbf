/** `ask_followup`: asks a further question about a finished run, as a paid run of its own. */

import { FOLLOWUP_MODEL } from "../../costs/prices.ts";
import { z } from "zod";
import { LOCAL_OWNER } from "../../caller.ts";
import { agoText } from "../../platform/duration.ts";
import { readStored, type StoredRun } from "../../runs/history/read.ts";
import { FOLLOWUP_CONTEXTS, isFinished, type Run } from "../../runs/run.ts";
import {
  type Call,
  defineOperation,
  flagField,
  hashOfInput,
  type OperationDeps,
  outputSchema,
  queryField,
  type Reader,
  taskIdField,
} from "../operation.ts";
import { costQuestion, requireCostConsent, runAgreedTo } from "../parts/cost-confirmation.ts";
import { costSchema } from "../view/run-view.ts";
import { limitOf } from "../reading/report-reading.ts";
import {
  ANSWER_WITHIN_MS,
  failedStart,
  followStarted,
  joinedNotice,
  messageOnceAccepted,
  requireDurable,
} from "../start/started-run.ts";
import { finishedResearch, researchText } from "../start/finished-research.ts";
import { asTable, columnsField } from "../parts/table.ts";
import { wholeOf } from "../view/whole-view.ts";
import type { PreparedFollowup } from "./prepare.ts";

/** Most follow-ups end within a minute; Google limits a call to ten. */
const MAX_WAIT_MS = 3_600_000;
const NAME = "ask_followup";

export const askFollowup = defineOperation({
  name: NAME,
  title: "Ask a follow-up",
  description:
    "Costs cents and takes about a minute: asks a further question about a finished run (task_id), answered from its report and the web. Use it instead of a new research on the topic. If it is still running: check_research_status.",
  input: z.strictObject({
    task_id: taskIdField,
    question: queryField("question").describe("The further question."),
    wait: flagField("wait").default(true).describe("False: return once it is started."),
    columns: columnsField.describe("For a table; question: what a row is."),
  }),
  output: outputSchema({
    mode: z.string().describe("sync: finished within the call; async: continues in the background."),
    parent_task_id: z.string().describe("The run that it continues."),
    context: z
      .enum(FOLLOWUP_CONTEXTS)
      .describe("What was continued: the conversation at Google, or the stored report."),
    results: z.looseObject({}).describe("As in start_deep_research."),
    ...costSchema,
    message: z.string(),
    check_status_command: z.string(),
    joined: z.boolean().describe("True when the same follow-up was asked minutes ago and is returned instead."),
    notice: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  positional: "question",
  webText: ["results"],
  waitFlag: "wait",
  question: async (deps, input, call) => {
    const { question: query } = input;
    const { owner } = call;
    const { taskId } = await deps.findRun(owner, input.task_id);
    const { made, insteadOf } = await madeBefore(deps, call, input);
    if (made !== undefined) return undefined;
    const prepared = await prepare(deps, owner, input);
    const question = await costQuestion(deps, call, paidBy(input, prepared));
    if (question === undefined) return undefined;
    // Joining a run costs nothing.
    const { findSameStart, joinKeyOf } = await import("../../runs/start/duplicate-start-store.ts");
    const joinKey = joinKeyOf({
      owner,
      query,
      agent: FOLLOWUP_MODEL,
      variant: prepared.variant,
      followupOn: taskId,
      insteadOf,
    });
    const same = await findSameStart(await deps.database(), { owner, joinKey, now: deps.clock.now() });
    return same === undefined ? question : undefined;
  },
  run: async (deps, input, call) => {
    const answerBy = (call.since ?? deps.clock.monotonic()) + ANSWER_WITHIN_MS;
    const { owner } = call;
    const { made, insteadOf } = await madeBefore(deps, call, input);
    const started =
      made ?? (await start(deps, call, { input, insteadOf, prepared: await prepare(deps, owner, input) }));
    const { taskId } = started;
    // A table that was made before is only read.
    const message = made === undefined ? "Asking a follow-up" : undefined;
    const run = await followStarted(deps, call, { started, message, answerBy, waitMs: input.wait ? Infinity : 0 });
    const notice = made === undefined ? joinedNotice : madeNotice;
    const joined = started.kind === "joined" ? { joined: true, notice: notice(run, deps.clock.now()) } : {};
    if (run.status === "completed") {
      return { ...(await answered(deps, await readStored(await deps.database(), owner, taskId), call)), ...joined };
    }
    if (isFinished(run.status)) throw failedStart(run);
    return {
      success: true,
      results: undefined,
      task_id: taskId,
      status: "running_async" as const,
      mode: "async",
      ...followupFields(run),
      message: messageOnceAccepted(run, "The follow-up is being answered in the background."),
      check_status_command: `check_research_status(task_id='${taskId}')`,
      ...aboutRun(run),
      ...joined,
    };
  },
  task: {
    kind: "agent",
    isFollowup: true,
    isUnfinished: ({ status }) => status === "running_async",
    answer: async (deps, stored, reader) => {
      if (stored.run.status !== "completed") throw failedStart(stored.run);
      return answered(deps, stored, reader);
    },
  },
  picturesOf: ({ task_id, results }) => ({ taskId: task_id, links: results?.pictures ?? [] }),
  toText: (output) => researchText(output),
});

interface FollowupInput {
  task_id: string;
  question: string;
  wait: boolean;
  columns?: string[] | undefined;
}

interface FollowupStart {
  input: FollowupInput;
  prepared: PreparedFollowup;
  insteadOf: string | undefined;
}

const paidBy = (input: FollowupInput, { estimate }: PreparedFollowup) => ({
  about: { operation: NAME, input: hashOfInput({ ...input }), run: input.task_id },
  query: input.question,
  agent: FOLLOWUP_MODEL,
  followup: estimate ?? null,
  isTable: input.columns !== undefined,
});

async function prepare(deps: OperationDeps, owner: string, input: FollowupInput): Promise<PreparedFollowup> {
  const { task_id: taskId, question, columns } = input;
  if (columns === undefined) return (await import("./prepare.ts")).prepareFollowup(deps, { owner, taskId, question });
  const { prepareTable } = await import("./prepare.ts");
  return prepareTable(deps, { owner, taskId, question, columns });
}

interface Before {
  /** The same table of the same report was paid for, however long ago. */
  made?: { kind: "joined"; taskId: string } | undefined;
  /** It was paid for, but the answer was no table. */
  insteadOf?: string | undefined;
}

async function madeBefore(deps: OperationDeps, { owner }: Call, input: FollowupInput): Promise<Before> {
  const { task_id: taskId, question, columns } = input;
  if (columns === undefined) return {};
  const { findTable } = await import("../../runs/table/find-table.ts");
  const { table, withoutTable } = await findTable(await deps.database(), { owner, taskId, columns, question });
  return { made: table && { kind: "joined", taskId: table.taskId }, insteadOf: withoutTable?.taskId };
}

const madeNotice = ({ createdAt }: Run, now: number): string =>
  `Nothing was sent and nothing is charged for this call: this table was asked for ${agoText(now - createdAt)}.`;

async function answered({ clock }: OperationDeps, stored: StoredRun, reader: Reader) {
  const whole = await wholeOf(stored, { now: clock.now() });
  const { results, ...answer } = finishedResearch(whole, limitOf(reader), aboutRun(stored.run));
  return { ...answer, ...followupFields(stored.run), results: asTable(whole.table, results) };
}

async function start(deps: OperationDeps, call: Call, { input, prepared, insteadOf }: FollowupStart) {
  const { research, obstacle } = await deps.research();
  await requireDurable({ obstacle });
  const { startResearch } = await import("../../runs/start/start.ts");
  const { followup, variant, title, notice } = prepared;
  const paid = paidBy(input, prepared);
  return startResearch(research, {
    ...(await requireCostConsent(deps, call, paid)),
    signal: call.signal,
    owner: call.owner,
    client: call.client,
    query: paid.query,
    agent: paid.agent,
    variant,
    title,
    parentTaskId: (await deps.findRun(call.owner, input.task_id)).taskId,
    followup,
    insteadOf,
    // Remote callers never get notifications on the server's desktop.
    enableNotifications: call.owner === LOCAL_OWNER,
    maxWaitMs: MAX_WAIT_MS,
    callerWaitsMs: input.wait ? ANSWER_WITHIN_MS : 0,
    forceNew: false,
    taskId: runAgreedTo(call, paid.about),
    notice,
  });
}

const followupFields = ({ parentTaskId, followupContext }: Run) => ({
  parent_task_id: parentTaskId,
  context: followupContext,
});

/** The notice that was stored with the run; Google's refusal to continue may have added it after the start. */
function aboutRun({ options: { notice } }: Run): { notice?: string } {
  return typeof notice === "string" ? { notice } : {};
}
