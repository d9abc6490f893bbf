/** Announces how the runs of schedules ended: by what changed since the report before. */

import { networkCaller } from "../../caller.ts";
import { AppError } from "../../errors.ts";
import { shortened } from "../../platform/clean-text.ts";
import { announceEnd, lastAnnounced, type UntoldRun, untoldRuns } from "../../runs/schedules/announcement-store.ts";
import type { ReportComparison } from "../compare-reports.ts";
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

/** Undefined for the first report, and for one that cannot be compared. */
async function changesSinceLast(
  deps: OperationDeps,
  { taskId, owner, scheduleId }: UntoldRun,
): Promise<string | undefined> {
  const earlier = await lastAnnounced(await deps.database(), scheduleId);
  if (earlier === undefined) return undefined;
  const { compareReports } = await import("../compare-reports.ts");
  const call: Call = {
    ...networkCaller(owner),
    client: "schedule",
    signal: deps.leaving,
    progress: () => {},
    wholeReports: true,
  };
  const compared = await compareReports.run(deps, { task_id: taskId, earlier }, call).catch((error: unknown) => {
    if (!(error instanceof AppError)) refused(error, deps);
    return undefined;
  });
  return compared && changesText(compared);
}

const MAX_NAMED = 3;
/** With the counts, and the id of the run, the desktop shows it whole. */
const MAX_NAMED_CHARS = 130;

/** The first findings, and how many others there are, with the sources: `+4 new, 3 gone, 2 new sources`. */
function changesText({ changed, added, gone, new_sources: more, gone_sources: fewer }: ReportComparison): string {
  const findings = [
    ...changed.map(({ now, before, said }) => ({ kind: "changed", text: `${now} (was: ${said ?? before})` })),
    ...added.map((text) => ({ kind: "new", text: `New: ${text}` })),
    ...gone.map((text) => ({ kind: "gone", text: `Gone: ${text}` })),
  ];
  const named: string[] = [];
  for (const { text } of findings.slice(0, MAX_NAMED)) {
    if (named.length > 0 && [...named, text].join(SEPARATOR).length > MAX_NAMED_CHARS) break;
    named.push(shortened(text, MAX_NAMED_CHARS));
  }
  const others = findings.slice(named.length);
  const counts = [
    ...["changed", "new", "gone"].map((kind) => [others.filter((one) => one.kind === kind).length, kind] as const),
    [more.length, more.length === 1 ? "new source" : "new sources"] as const,
    [fewer.length, fewer.length === 1 ? "source gone" : "sources gone"] as const,
  ].flatMap(([count, what]) => (count === 0 ? [] : `${count} ${what}`));
  if (counts.length === 0 && named.length === 0) return "No change found";
  return [...named, ...(counts.length === 0 ? [] : [`+${counts.join(", ")}`])].join(SEPARATOR);
}

const SEPARATOR = " · ";
