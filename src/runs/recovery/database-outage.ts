/** While the database cannot be written, runs are polled from memory and finished reports are saved to files. */

import type { AgentUsage } from "../../gemini/research-agent.ts";
import { isShared } from "../../store/dialect.ts";
import type { ResearchDeps } from "../deps.ts";
import type { RunAtGoogle } from "../run.ts";
import { unfinishedInteractions } from "../scheduling/polled-store.ts";

/** Few enough to poll in one round without exceeding the rate that Google allows. */
const MAX_RUNS_PER_ROUND = 20;

/** Includes stored runs, unless machines share them: those belong to no process, and Google keeps their reports. */
export async function saveReportsDuringOutage(deps: ResearchDeps, savedToFile: Set<string>): Promise<void> {
  const { db } = deps;
  const stored = isShared(db) ? [] : await unfinishedInteractions(db, MAX_RUNS_PER_ROUND).catch(() => []);
  await saveFinishedReports(deps, savedToFile, [...deps.unsavedIds.values(), ...stored]);
}

export const saveReportsOfUnsavedRuns = (deps: ResearchDeps, savedToFile: Set<string>): Promise<void> =>
  saveFinishedReports(deps, savedToFile, [...deps.unsavedIds.values()]);

/** One round: each report that is finished is saved once, and its path is logged. */
async function saveFinishedReports(deps: ResearchDeps, savedToFile: Set<string>, runs: RunAtGoogle[]): Promise<void> {
  // A plan can be decided on only when the database is back, and is then read from Google.
  const left = runs.filter(({ taskId, part }) => part !== "plan" && !savedToFile.has(taskId));
  for (const run of left.slice(0, MAX_RUNS_PER_ROUND)) {
    const polled = await deps.agent.poll(run.interactionId, deps.leaving);
    if (polled.kind !== "found" || UNFINISHED.has(polled.interaction.status)) continue;
    const { report, status, usage } = polled.interaction;
    const title = status === "completed" ? "Deep Research Complete" : "Deep Research Failed";
    if (report.trim() !== "" && !(await saveToFile(deps, run, { title, report, usage }))) continue;
    savedToFile.add(run.taskId);
  }
}

const UNFINISHED = new Set(["working", "unknown"]);

interface Finished {
  title: string;
  report: string;
  usage: AgentUsage | undefined;
}

async function saveToFile(deps: ResearchDeps, run: RunAtGoogle, { title, report, usage }: Finished): Promise<boolean> {
  const path = await deps.backUp(run, report, usage);
  const log = deps.log.forRun(run.taskId);
  if (path === undefined) {
    log.error(`Run ${run.taskId} has ended, but neither the database nor a file can be written. Free some disk space.`);
    return false;
  }
  log.error(`Run ${run.taskId} has ended, but the database cannot be written. Its report is kept in ${path}.`);
  if (run.enableNotifications) await deps.notify({ title, body: `${run.taskId.slice(0, 8)}: saved to ${path}` });
  return true;
}
