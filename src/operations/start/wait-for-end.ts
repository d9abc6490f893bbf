/** Waits for a research run within the call that started it. */

import { waitForRun } from "../../runs/history/wait.ts";
import { isIdle, type Run } from "../../runs/run.ts";
import { watchProgress } from "../../runs/streams/watched-streams.ts";
import type { Call, OperationDeps } from "../operation.ts";
import { createActionReporter } from "../parts/run-action.ts";

/** Follows the run and reports its progress until it ends, the time is over or the caller no longer waits. */
export async function waitForEnd(deps: OperationDeps, call: Call, { run, ms }: { run: Run; ms: number }): Promise<Run> {
  const { research, runner } = await deps.research();
  runner.start();
  const unwatch = watchProgress(runner, run);
  const report = createActionReporter(deps, call);
  const { owner, signal, returnWhen } = call;
  let hasNews = false;
  return waitForRun(research.db, deps.clock, {
    owner,
    taskId: run.taskId,
    until: async (seen) => {
      // The first message was that of the start, with the task_id; it stays until there is news.
      hasNews ||= seen.currentAction !== undefined || seen.obstacle !== undefined;
      if (hasNews) await report(seen);
      return isIdle(seen.status);
    },
    ms,
    signal: returnWhen === undefined ? signal : AbortSignal.any([signal, returnWhen]),
  }).finally(unwatch);
}
