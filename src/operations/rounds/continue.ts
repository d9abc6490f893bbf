/** Continues an interrupted `deep_search` after its last finished round. */

import { AppError } from "../../errors.ts";
import { findRounds } from "../../runs/result-store.ts";
import { isFinished, type Run, type RunStatus } from "../../runs/run.ts";
import { optionsOf, runDeepSearch } from "../deep-search.ts";
import type { Call, OperationDeps } from "../operation.ts";
import { wishesIn } from "../question/wishes.ts";
import { storedRound } from "./stored-rounds.ts";

/** Continues a search after its last finished round, as a new run in the background (Q1). */
export async function continueDeepSearch(deps: OperationDeps, run: Run, call: Call) {
  const { newestContinuation, beginContinuation } = await import("../../runs/local/continuation-store.ts");
  const { db, processId, clock } = await deps.recorder();
  const { owner, client } = call;
  const newest = await newestContinuation(db, { taskId: run.taskId, owner });
  if (newest?.status === "running" || newest?.status === "completed") return continuedAs(newest.task_id, newest.status);
  // A continuation that stopped too contains these rounds and perhaps more, which are paid for.
  const last = newest?.task_id ?? run.taskId;
  const furthest = await findRounds(db, last);
  const rounds = furthest.length > 0 ? furthest : await findRounds(db, run.taskId);
  if (!isFinished(run.status) || run.status === "completed" || rounds.length === 0) {
    throw notResumable(run, rounds.length);
  }
  const { query } = run;
  const wishes = wishesIn(run.options);
  const earlier = rounds.map(storedRound);
  const asked = Number(run.options["max_iterations"] ?? deps.settings.maxRounds);
  // A search that has used up its rounds gets one more.
  const maxRounds = Math.max(asked, earlier.length + 1);
  const taskId = crypto.randomUUID();
  const continuation = await beginContinuation(db, {
    taskId,
    parentTaskId: last,
    owner,
    client,
    kind: "deep_search",
    query,
    options: optionsOf(maxRounds, wishes),
    processId,
    now: clock.now(),
  });
  if (continuation.kind === "known") {
    const known = await deps.findRun(owner, continuation.taskId);
    return continuedAs(known.taskId, known.status);
  }
  const background = { ...call, signal: deps.leaving, progress: () => {} };
  const request = { query, wishes, maxRounds, earlier, taskId, stored: true };
  deps.inBackground(runDeepSearch(deps, request, background).catch(() => undefined));
  return resumedAs(taskId, "running", `The search continues at round ${earlier.length + 1} as a new run.`);
}

function notResumable({ taskId, status, progress }: Run, finishedRounds: number): AppError {
  return new AppError({
    code: status === "completed" ? "RESEARCH_ALREADY_COMPLETED" : "INVALID_INPUT",
    message:
      finishedRounds === 0
        ? "This search has no finished round to continue from; ask it again."
        : "This search has not stopped; there is nothing to resume.",
    run: { task_id: taskId, status, progress },
  });
}

const continuedAs = (taskId: string, status: RunStatus) =>
  resumedAs(taskId, status, "This search has already been continued: see this run.");

const resumedAs = (taskId: string, status: RunStatus, message: string) => ({
  success: true,
  task_id: taskId,
  status,
  message,
  check_status_command: `check_research_status(task_id='${taskId}')`,
});
