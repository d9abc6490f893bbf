/** Runs as tasks. The store is all there is: any process answers for any run, also after the one that began it. */

import { type CallToolResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { App } from "../../app.ts";
import { AppError } from "../../errors.ts";
import { cancelResearch } from "../../operations/cancel-research.ts";
import { OPERATIONS } from "../../operations/catalog.ts";
import { actionOf } from "../../operations/check-research-status.ts";
import { readCursor, writeCursor } from "../../operations/list-research.ts";
import type { OperationDeps } from "../../operations/operation.ts";
import { outcomeOfRun, perform } from "../../operations/perform.ts";
import { readStored, type StoredRun } from "../../runs/history/read.ts";
import { LOCAL_KINDS, type Run } from "../../runs/run.ts";
import { findRun, listRuns } from "../../runs/run-store.ts";
import type { ListedTask, TaskSource, TaskState } from "./task-source.ts";
import { picturedResult } from "../tools.ts";

const POLL_MS = { search: 1_000, deep_search: 2_000, deep_research: 2_000, agent: 5_000 };
const LISTED = 50;
const DAY_MS = 86_400_000;
/** A search that works says so every 15 s; one that has not for so long may have lost its process. */
const SILENT_MS = 45_000;

export function runTasks({ deps, config }: App): TaskSource {
  const ttlMs = keptMs(config.settings.RESEARCH_KEEP_DAYS);
  return {
    find: async (owner, taskId) => {
      const run = await knownRun(deps, owner, taskId);
      return run === undefined ? undefined : stateOf(deps, run, ttlMs);
    },
    cancel: async (caller, taskId) => {
      const call = { ...caller, client: undefined, signal: deps.leaving, progress: () => {} };
      const outcome = await perform(cancelResearch, deps, { input: { task_id: taskId }, call });
      // One that ended in the same moment needs no cancel.
      if (outcome.failed && statusOf(await findRun(await deps.database(), caller.owner, taskId)) === "working") {
        throw new ProtocolError(
          ProtocolErrorCode.InternalError,
          "The task could not be cancelled.",
          outcome.structured.error,
        );
      }
    },
    // A run asks for nothing once it is stored, so every answer is one that it did not ask for.
    update: async () => {},
    list: async (owner, cursor) => {
      const before = cursor === undefined ? undefined : readCursor(cursor);
      const filter = { owner, status: undefined, kind: undefined, limit: LISTED, before };
      const runs = await listRuns(await deps.database(), filter);
      const page = runs.slice(0, LISTED);
      const last = page.at(-1);
      const nextCursor = runs.length > LISTED && last !== undefined ? writeCursor(last) : undefined;
      return { tasks: page.map((run) => listed(run, ttlMs)), nextCursor };
    },
  };
}

async function knownRun(deps: OperationDeps, owner: string, taskId: string): Promise<Run | undefined> {
  const db = await deps.database();
  try {
    const run = await findRun(db, owner, taskId);
    const now = deps.clock.now();
    const silent = statusOf(run) === "working" && LOCAL_KINDS.includes(run.kind) && now - run.updatedAt > SILENT_MS;
    if (!silent) return run;
    const { recoverInterruptedRuns } = await import("../../runs/recovery/interrupted-searches.ts");
    await recoverInterruptedRuns(db, deps.log, now);
    return await findRun(db, owner, taskId);
  } catch (error) {
    if (error instanceof AppError && error.code === "TASK_NOT_FOUND") return undefined;
    throw error;
  }
}

/** Retention counts from the end of a run, so from its beginning it is kept at least as long. */
const keptMs = (keepDays: number): number | null => (keepDays === 0 ? null : keepDays * DAY_MS);

async function stateOf(deps: OperationDeps, run: Run, ttlMs: number | null): Promise<TaskState> {
  const { status: _status, toolFailed: _toolFailed, ...head } = listed(run, ttlMs);
  const { taskId } = head;
  const status = statusOf(run);
  if (status === "working") return { ...head, status };
  const stored = await readStored(await deps.database(), run.owner, taskId);
  return { ...head, status, result: await resultOf(deps, stored) };
}

/** What the call that began the run would have returned. */
async function resultOf(deps: OperationDeps, stored: StoredRun): Promise<CallToolResult> {
  const operation = OPERATIONS.find(({ task }) => task?.kind === stored.run.kind);
  if (operation === undefined) throw new Error(`No operation makes runs of kind ${stored.run.kind}.`);
  return picturedResult(deps, await outcomeOfRun(operation, deps, stored));
}

const listed = (run: Run, ttlMs: number | null): ListedTask => ({
  taskId: run.taskId,
  status: statusOf(run),
  toolFailed: run.status === "failed" || run.status === "start_unknown",
  createdAt: run.createdAt,
  updatedAt: run.updatedAt,
  ttlMs,
  pollMs: POLL_MS[run.kind],
  message: messageOf(run),
});

/** A cancelled task stays cancelled, also where its paid report comes all the same. */
const isLate = ({ status, cancelConfirmed }: Run): boolean => status === "completed" && cancelConfirmed === false;

function statusOf(run: Run): "working" | "completed" | "cancelled" {
  if (run.status === "cancelled" || isLate(run)) return "cancelled";
  const ended = run.status === "completed" || run.status === "failed" || run.status === "start_unknown";
  return ended ? "completed" : "working";
}

function messageOf(run: Run): string {
  if (isLate(run)) return "Cancelled. Its report came all the same: get_research_results returns it.";
  // Not what it is doing: those are the words of a model that has read the web.
  if (statusOf(run) === "working") return `Working (${Math.round(run.progress)} %)`;
  return run.error === undefined ? actionOf(run) : `${run.error.code}: ${run.error.message}`;
}
