/** What happens while the database refuses to be written: runs are followed in memory, finished reports go to files. */

import { apart } from "../../telemetry/telemetry.ts";
import { unfinishedInteractions } from "../scheduling/claim-store.ts";
import type { ResearchDeps, UnsavedRun } from "../deps.ts";

/** Few enough to look at in one round without asking Google too often. */
const MOST_RESCUED = 20;

type Followed = Pick<UnsavedRun, "taskId" | "query" | "interactionId" | "enableNotifications">;

/** Also what is stored. Not what an engine schedules, which is no process's own: Google keeps those reports. */
export async function rescueFollowed(deps: ResearchDeps, rescued: Set<string>): Promise<void> {
  const stored = deps.queue.isEngine ? [] : await unfinishedInteractions(deps.db, MOST_RESCUED).catch(() => []);
  await rescueReports(deps, rescued, [...deps.unsaved.values(), ...stored]);
}

/** One round: whoever is finished is saved, once, and told where. The database is tried again by its own loop. */
export async function rescueReports(
  deps: ResearchDeps,
  rescued: Set<string>,
  runs: Followed[] = [...deps.unsaved.values()],
): Promise<void> {
  const left = runs.filter(({ taskId }) => !rescued.has(taskId));
  for (const run of left.slice(0, MOST_RESCUED)) {
    const look = await apart(run.taskId, () => deps.agent.poll(run.interactionId, deps.leaving));
    if (look.kind !== "found" || OPEN.has(look.interaction.status)) continue;
    const { report, status } = look.interaction;
    const title = status === "completed" ? "Deep Research Complete" : "Deep Research Failed";
    if (report.trim() !== "" && !(await rescue(deps, { ...run, title, report }))) continue;
    rescued.add(run.taskId);
  }
}

const OPEN = new Set(["working", "unknown"]);

type Rescued = Pick<UnsavedRun, "taskId" | "query" | "enableNotifications"> & { title: string; report: string };

async function rescue(deps: ResearchDeps, { title, report, ...run }: Rescued): Promise<boolean> {
  const path = await deps.backUp(run, report);
  if (path === undefined) {
    deps.log
      .forRun(run.taskId)
      .error(`Run ${run.taskId} has ended, but neither the database nor a file can be written. Free some disk space.`);
    return false;
  }
  deps.log
    .forRun(run.taskId)
    .error(`Run ${run.taskId} has ended, but the database cannot be written. Its report is kept in ${path}.`);
  if (run.enableNotifications) await deps.tell({ title, body: `${run.taskId.slice(0, 8)}: saved to ${path}` });
  return true;
}
