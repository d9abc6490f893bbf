/** Runs as MCP tasks, read from the store: any process can serve any run, even after the one that began it. */

import { type CallToolResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { App } from "../../app.ts";
import { AppError } from "../../errors.ts";
import { cancelResearch } from "../../operations/cancel-research.ts";
import { OPERATIONS } from "../../operations/catalog.ts";
import { runPage } from "../../operations/list-research.ts";
import type { OperationDeps, Reader } from "../../operations/operation.ts";
import { outcomeOfRun, perform } from "../../operations/perform.ts";
import { usualMinutes } from "../../runs/history/run-estimate.ts";
import { headOf } from "../../operations/view/head-view.ts";
import { editOf } from "../../runs/plan/plan-store.ts";
import { readStored, type StoredRun } from "../../runs/history/read.ts";
import type { Run } from "../../runs/run.ts";
import { currentOf } from "../../runs/conversation-store.ts";
import type { ListedTask, TaskSource, TaskState } from "./task-source.ts";
import { resultWithPictures } from "../tool-call.ts";

const POLL_MS = { search: 1_000, deep_search: 2_000, deep_research: 2_000, agent: 5_000 };
/** Most follow-ups take less than a minute. */
const FOLLOWUP_POLL_MS = 1_000;
const PAGE_SIZE = 50;
const DAY_MS = 86_400_000;

export function runTasks({ deps, config }: App): TaskSource {
  const ttlMs = keptMs(config.settings.RESEARCH_KEEP_DAYS);
  return {
    find: async ({ owner, answerLimit }, taskId) => {
      const run = await currentRun(deps, owner, taskId);
      // Under the id of the task, which may stand for a later run.
      return run === undefined ? undefined : { ...(await stateOf(deps, run, { ttlMs, answerLimit })), taskId };
    },
    cancel: async (caller, taskId) => {
      const call = { ...caller, client: undefined, signal: deps.leaving, progress: () => {} };
      const outcome = await perform(cancelResearch, deps, { input: { task_id: taskId }, call });
      // A run that ended in the meantime needs no cancel.
      if (outcome.failed && statusOf(await currentOf(await deps.database(), caller.owner, taskId)) === "working") {
        throw new ProtocolError(
          ProtocolErrorCode.InternalError,
          "The task could not be cancelled.",
          outcome.structured.error,
        );
      }
    },
    // A stored run asks for no input, so there is no response to pass on.
    update: async () => {},
    list: async (owner, cursor) => {
      const { runs, next_cursor } = await runPage(await deps.database(), owner, { limit: PAGE_SIZE, cursor });
      const shown = { ttlMs, now: deps.clock.now() };
      return { tasks: runs.map(({ run }) => listed(run, shown)), nextCursor: next_cursor };
    },
  };
}

async function currentRun(deps: OperationDeps, owner: string, taskId: string): Promise<Run | undefined> {
  try {
    return await deps.findRun(owner, taskId);
  } catch (error) {
    if (error instanceof AppError && error.code === "TASK_NOT_FOUND") return undefined;
    throw error;
  }
}

/** Retention counts from the end of a run, so it is a lower bound from its creation. */
const keptMs = (keepDays: number): number | null => (keepDays === 0 ? null : keepDays * DAY_MS);

interface Shown extends Pick<Reader, "answerLimit"> {
  ttlMs: number | null;
}

async function stateOf(deps: OperationDeps, run: Run, { ttlMs, answerLimit }: Shown): Promise<TaskState> {
  const { status: _status, toolFailed: _toolFailed, ...head } = listed(run, { ttlMs, now: deps.clock.now() });
  const { taskId } = head;
  const status = statusOf(run);
  if (status === "working") return { ...head, status };
  const stored = await readStored(await deps.database(), run.owner, taskId);
  return { ...head, status, result: await resultOf(deps, { owner: run.owner, stored, answerLimit }) };
}

/** The result that the call that created the run would have returned. */
async function resultOf(deps: OperationDeps, read: Reader & { stored: StoredRun }): Promise<CallToolResult> {
  const { kind, followupContext } = read.stored.run;
  const isFollowup = followupContext !== undefined;
  const operation = OPERATIONS.find(({ task }) => task?.kind === kind && (task.isFollowup ?? false) === isFollowup);
  if (operation === undefined) throw new Error(`No operation creates runs of kind ${kind}.`);
  return resultWithPictures(deps, await outcomeOfRun(operation, deps, read));
}

const listed = (run: Run, { ttlMs, now }: { ttlMs: number | null; now: number }): ListedTask => ({
  taskId: run.taskId,
  status: statusOf(run),
  toolFailed: run.status === "failed" || run.status === "start_unknown",
  createdAt: run.createdAt,
  updatedAt: run.updatedAt,
  ttlMs,
  pollMs: run.followupContext === undefined ? POLL_MS[run.kind] : FOLLOWUP_POLL_MS,
  message: messageOf(run, now),
});

/** A cancelled task stays cancelled, even if its paid report arrives later. */
const isLate = ({ status, cancelConfirmed }: Run): boolean => status === "completed" && cancelConfirmed === false;

/**
 * The task of a start with `plan` ends with its first plan, which is what the call asked for; resume_research is a call
 * of its own. An ended task must not become `working` again, so it stays completed while the research runs.
 */
const hasReturnedPlan = ({ status, part, options }: Run): boolean =>
  status === "awaiting_approval" || part === "research" || editOf(options) !== undefined;

function statusOf(run: Run): "working" | "completed" | "cancelled" {
  if (run.status === "cancelled" || isLate(run)) return "cancelled";
  const ended = run.status === "completed" || run.status === "failed" || run.status === "start_unknown";
  return ended || hasReturnedPlan(run) ? "completed" : "working";
}

function messageOf(run: Run, now: number): string {
  if (isLate(run)) return "Cancelled, but its report arrived anyway: get_research_results returns it.";
  if (statusOf(run) === "working") return workingText(run, now);
  // The head of an ended run is the same at any time.
  return run.error === undefined
    ? headOf(run, run.updatedAt).current_action
    : `${run.error.code}: ${run.error.message}`;
}

/** Without the current action, which is the text of a model that has read the web. */
function workingText(run: Run, now: number): string {
  const { kind, progress, followupContext, obstacle, status, startedAt, createdAt } = run;
  if (obstacle !== undefined || status === "pending")
    return headOf({ ...run, currentAction: undefined }, now).current_action;
  const passed = passedText(now - (startedAt ?? createdAt));
  if (followupContext !== undefined) return `Answering for ${passed}`;
  // The time is that of the whole run, not of its round.
  if (kind === "deep_search") return `${roundText(run)}, ${passed} so far`;
  if (kind !== "agent") return `Searching the web for ${passed}`;
  const seen = progress === 0 ? "" : `, about ${Math.round(progress)} % done`;
  return `Researching for ${passed} of usually ${Math.round(usualMinutes(run).likely)} min${seen}`;
}

function roundText({ progress, options }: Run): string {
  const max = Number(options["max_iterations"]);
  if (!(max > 0)) return "Searching and verifying";
  return `Round ${Math.min(max, Math.round((progress * max) / 100) + 1)} of at most ${max}`;
}

const STEP_MS = 15_000;
const MINUTE_MS = 60_000;

/** In steps, because a client is notified of each new text. */
const passedText = (ms: number): string =>
  ms < MINUTE_MS ? `${(STEP_MS / 1_000) * Math.floor(ms / STEP_MS)} s` : `${Math.floor(ms / MINUTE_MS)} min`;
