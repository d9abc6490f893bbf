/** Cancelling a run of any kind from any process: a flag first, then Google, then what Google says. */

import { AppError } from "../../errors.ts";
import type { Agent } from "../../gemini/research-agent.ts";
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import type { Database } from "../../store/database.ts";
import { processLiveness } from "../../store/processes.ts";
import { cancelHere, leaseOf, requestCancel } from "./cancel-store.ts";
import { isAbandoned } from "../lease.ts";
import { isFinished, type Run } from "../run.ts";
import { findRun } from "../run-store.ts";
import { waitForRun } from "../history/wait.ts";

export interface CancelDeps {
  db: Database;
  clock: Clock;
  /** Undefined without a key: then Google cannot be told. */
  agent: Agent | undefined;
  /** Has the run polled at once, for what Google says. */
  pollNow: (taskId: string) => Promise<void>;
}

export interface CancelRequest {
  owner: string;
  taskId: string;
  keepPartial: boolean;
}

/** How long Google, or the process that works on a search, is given to answer. */
const WAIT_MS = 5_000;

export async function cancelRun(deps: CancelDeps, request: CancelRequest): Promise<Run> {
  const { db, clock } = deps;
  const { owner, taskId, keepPartial } = request;
  const run = await findRun(db, owner, taskId);
  // A repeated cancel gets the answer of the first.
  if (run.status === "cancelled") return run;
  if (isFinished(run.status)) throw finishedAlready(run);
  await requestCancel(db, { taskId, keepPartial, now: clock.now() });
  failpoint("after-cancel-flag");
  if (run.status === "start_unknown") {
    await cancelHere(db, { taskId, confirmed: false, keepPartial, now: clock.now() });
    return findRun(db, owner, taskId);
  }
  // Both within the same five seconds: what Google says about the cancel shows in the run.
  const told = run.kind === "agent" ? tellGoogle(deps, run) : Promise.resolve();
  const waited = waitForRun(db, clock, { owner, taskId, until: ({ status }) => isFinished(status), ms: WAIT_MS });
  const [seen] = await Promise.all([waited, told]);
  if (isFinished(seen.status)) return seen;
  return settle(deps, seen, request);
}

async function tellGoogle({ agent, pollNow }: CancelDeps, run: Run): Promise<void> {
  if (run.interactionId === undefined || agent === undefined) return;
  await agent.cancel(run.interactionId, AbortSignal.timeout(WAIT_MS));
  failpoint("during-cancel");
  // The wish is stored, and the next poll sees what became of it.
  await pollNow(run.taskId).catch(() => undefined);
}

/** Nobody answered in time. A search whose process is gone is over; a research is cancelled without Google's word. */
async function settle({ db, clock }: CancelDeps, run: Run, { keepPartial }: CancelRequest): Promise<Run> {
  const now = clock.now();
  const { holder, until } = await leaseOf(db, run.taskId);
  const liveness = (await processLiveness(db, [holder])).get(holder);
  if (run.kind === "agent" || isAbandoned(liveness, until, now)) {
    await cancelHere(db, { taskId: run.taskId, confirmed: run.kind !== "agent", keepPartial, now });
  }
  return findRun(db, run.owner, run.taskId);
}

function finishedAlready(run: Run): AppError {
  const about = { task_id: run.taskId, status: run.status, progress: run.progress };
  return run.status === "completed"
    ? new AppError({
        code: "RESEARCH_ALREADY_COMPLETED",
        message: "This run is completed; there is nothing to cancel.",
        suggestion: "get_research_results returns its report.",
        run: about,
      })
    : new AppError({
        code: "RESEARCH_FAILED",
        message: "This run has failed already; there is nothing to cancel.",
        suggestion: "get_research_results returns what it left, if anything.",
        run: about,
      });
}
