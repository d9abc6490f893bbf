/** Announces how the runs of schedules ended: by what changed since the report before. */

import { networkCaller } from "../../caller.ts";
import { AppError } from "../../errors.ts";
import { announceEnd, lastAnnounced, type UntoldRun, untoldRuns } from "../../runs/schedules/announcement-store.ts";
import type { Call, OperationDeps } from "../operation.ts";
import { refused } from "../perform.ts";

/** `reported`: the runs that could not be announced. Each sweep tries again; they delay nothing else. */
export async function announceEnded(deps: OperationDeps, reported: Set<string>): Promise<void> {
  for (const untold of await untoldRuns(await deps.database())) {
    if (deps.leaving.aborted) return;
    try {
      await announceRun(deps, untold);
      reported.delete(untold.taskId);
    } catch (error) {
      if (!reported.has(untold.taskId)) refused(error, deps);
      reported.add(untold.taskId);
    }
  }
}

async function announceRun(deps: OperationDeps, untold: UntoldRun): Promise<void> {
  const run = await deps.findRun(untold.owner, untold.taskId);
  const changes = untold.status === "completed" ? await changesSinceLast(deps, untold) : undefined;
  // The comparison was cut short: the next process makes it.
  if (deps.leaving.aborted) return;
  await announceEnd(await deps.database(), { ...untold, run, changes, now: deps.clock.now() });
}

const MAX_NAMED = 3;

/** Undefined for the first report, and for one that cannot be compared. */
async function changesSinceLast(
  deps: OperationDeps,
  { taskId, owner, scheduleId }: UntoldRun,
): Promise<string | undefined> {
  const earlier = await lastAnnounced(await deps.database(), scheduleId);
  if (earlier === undefined) return undefined;
  const { compareReports } = await import("../compare-reports.ts");
  const call: Call = { ...networkCaller(owner), client: "schedule", signal: deps.leaving, progress: () => {} };
  const compared = await compareReports.run(deps, { task_id: taskId, earlier }, call).catch((error: unknown) => {
    if (!(error instanceof AppError)) refused(error, deps);
    return undefined;
  });
  if (compared === undefined) return undefined;
  const { changed, added, gone } = compared;
  const named = [
    ...changed.map(({ now, before, said }) => `${now} (was: ${said ?? before})`),
    ...added.map((text) => `New: ${text}`),
    ...gone.map((text) => `Gone: ${text}`),
  ];
  return named.length === 0 ? "Nothing changed" : named.slice(0, MAX_NAMED).join(" · ");
}
