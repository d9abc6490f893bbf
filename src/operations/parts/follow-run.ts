/** Follows a run within a call that waits for news of it: has its progress streamed, and reports it to the caller. */

import { waitForRun } from "../../runs/history/read.ts";
import { isFinished, isIdle, type Run } from "../../runs/run.ts";
import { watchProgress } from "../../runs/streams/watched-streams.ts";
import type { Call, OperationDeps } from "../operation.ts";
import { headOf } from "../view/head-view.ts";
import { backupOf } from "./after-failure.ts";

/** Nothing more happens without the user. */
export const isOver = (deps: Pick<OperationDeps, "backupOf">, run: Run): boolean =>
  isIdle(run.status) || run.status === "start_unknown" || backupOf(deps, run) !== undefined;

interface Following {
  call: Pick<Call, "owner" | "signal" | "returnWhen">;
  ms: number;
  until: (run: Run) => boolean | Promise<boolean>;
}

/**
 * Waits for news of a run that is not over; any process may poll the run and store them. Its progress stream stays open
 * for a while after a call that does not wait.
 */
export async function followRun(deps: OperationDeps, run: Run, { call, ms, until }: Following): Promise<Run> {
  if (isOver(deps, run)) return run;
  const unwatch = run.kind === "agent" ? await watch(deps, run) : () => {};
  const { owner, signal, returnWhen } = call;
  return waitForRun(await deps.database(), deps.clock, {
    owner,
    taskId: run.taskId,
    until,
    ms,
    signal: AbortSignal.any([signal, deps.leaving, ...(returnWhen === undefined ? [] : [returnWhen])]),
  }).finally(unwatch);
}

/** Polls the run from this process too, in case no other does; without a key or after an error the store is only read. */
async function watch(deps: OperationDeps, run: Run): Promise<() => void> {
  try {
    if ((await deps.agent()) === undefined) return () => {};
    const { runner } = await deps.research();
    runner.start();
    return watchProgress(runner, run);
  } catch {
    deps.log.debug("This process could not poll the run.");
    return () => {};
  }
}

/** Sends each new action of a run to the caller once: a person reads it while the client waits, at no cost in tokens. */
export function createActionReporter({ clock }: Pick<OperationDeps, "clock">, call: Pick<Call, "progress">) {
  let sent: string | undefined;
  return (run: Run): void => {
    const { current_action: action, progress, progress_is_estimate: isEstimate } = headOf(run, clock.now());
    if (action === sent || isFinished(run.status)) return;
    sent = action;
    const text = isEstimate === true && progress > 0 ? `${progress} % (estimate): ${action}` : action;
    call.progress(text, { percent: progress });
  };
}
