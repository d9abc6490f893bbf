/** Cancels a run of any kind from any process: sets the flag, cancels at Google, then waits for the outcome. */

import { AppError } from "../../errors.ts";
import type { Agent } from "../../gemini/research-agent.ts";
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import type { Database } from "../../store/database.ts";
import { processLiveness } from "../../store/processes.ts";
import { cancelHere, leaseOf, requestCancel } from "./cancel-store.ts";
import { isAbandoned } from "../lock-store.ts";
import { isFinished, type Run, aboutRun } from "../run.ts";
import { currentOf, lineOf } from "../conversation-store.ts";
import { newestContinuation } from "../run-store.ts";
import { waitForRun } from "../history/read.ts";

export interface CancelDeps {
  db: Database;
  clock: Clock;
  /** Undefined without an API key: then the run cannot be cancelled at Google. */
  agent: Agent | undefined;
  /** Polls the run immediately to read its state at Google. */
  pollNow: (taskId: string) => Promise<void>;
}

export interface CancelRequest {
  owner: string;
  taskId: string;
  keepPartial: boolean;
}

/** How long to wait for Google, or for the process that works on a search. */
const CANCEL_WAIT_MS = 5_000;

export async function cancelRun(deps: CancelDeps, request: CancelRequest): Promise<Run> {
  const { db, clock } = deps;
  const { owner, keepPartial } = request;
  const run = await currentOf(db, owner, request.taskId);
  const { taskId } = run;
  // Cancelling is idempotent.
  if (run.status === "cancelled") return run;
  if (isFinished(run.status)) {
    const next = run.kind === "deep_search" ? await newestContinuation(db, { taskId, owner }) : undefined;
    if (next?.status !== "running") throw finishedAlready(run);
    return cancelRun(deps, { ...request, taskId: next.task_id });
  }
  await requestCancel(db, { taskId, keepPartial, now: clock.now() });
  failpoint("after-cancel-flag");
  // A start that was sent again may be running, too, although its id is unknown.
  for (const { task_id, status } of await lineOf(db, taskId)) {
    if (task_id !== taskId && (status === "start_unknown" || status === "pending"))
      await requestCancel(db, { taskId: task_id, keepPartial, now: clock.now() });
    if (status !== "start_unknown") continue;
    await cancelHere(db, { taskId: task_id, confirmed: false, keepPartial, now: clock.now() });
  }
  if (run.status === "start_unknown") {
    const current = await currentOf(db, owner, taskId);
    // Another call has sent it again meanwhile.
    return current.taskId === taskId || isFinished(current.status) ? current : cancelRun(deps, request);
  }
  if (run.status === "awaiting_approval") {
    // Google is not working on a plan that waits. If it was approved meanwhile, Google is: then it is cancelled there.
    const waiting = { taskId, isPlan: true, confirmed: true, keepPartial, now: clock.now() };
    return (await cancelHere(db, waiting)) ? currentOf(db, owner, taskId) : cancelRun(deps, request);
  }
  // In parallel, within the same five seconds: the wait ends as soon as the run shows Google's response.
  const cancelling = run.kind === "agent" ? cancelAtGoogle(deps, run) : Promise.resolve();
  const waiting = waitForRun(db, clock, {
    owner,
    taskId,
    until: ({ status }) => isFinished(status),
    ms: CANCEL_WAIT_MS,
  });
  const [seen] = await Promise.all([waiting, cancelling]);
  if (isFinished(seen.status)) return seen;
  // The run has given way meanwhile: the one before it is the one that Google works on.
  if (seen.taskId !== taskId) return cancelRun(deps, request);
  return settle(deps, seen, request);
}

async function cancelAtGoogle({ agent, pollNow }: CancelDeps, run: Run): Promise<void> {
  if (run.interactionId === undefined || agent === undefined) return;
  await agent.cancel(run.interactionId, AbortSignal.timeout(CANCEL_WAIT_MS));
  failpoint("during-cancel");
  // An error is ignored: the cancel request is stored and the next regular poll reads its outcome.
  await pollNow(run.taskId).catch(() => undefined);
}

/** After a timeout: cancels a search whose process has died, and a background run without Google's confirmation. */
async function settle({ db, clock }: CancelDeps, run: Run, { keepPartial }: CancelRequest): Promise<Run> {
  const now = clock.now();
  const { holder, until } = await leaseOf(db, run.taskId);
  const liveness = (await processLiveness(db, [holder])).get(holder);
  if (run.kind === "agent" || isAbandoned(liveness, until, now)) {
    await cancelHere(db, { taskId: run.taskId, confirmed: run.kind !== "agent", keepPartial, now });
  }
  return currentOf(db, run.owner, run.taskId);
}

function finishedAlready(run: Run): AppError {
  return run.status === "completed"
    ? new AppError({
        code: "RESEARCH_ALREADY_COMPLETED",
        message: "This run is completed; there is nothing to cancel.",
        next: [{ do: "read" }],
        run: aboutRun(run),
      })
    : new AppError({
        code: "RESEARCH_FAILED",
        message: "This run has already failed; there is nothing to cancel.",
        suggestion: "Its partial text is kept, if there is any.",
        next: [{ do: "read" }],
        run: aboutRun(run),
      });
}
