/** The head of the view: what the row of a run says, and what the run is doing, in a line. */

import { costFields } from "../../costs/actual.ts";
import { isoTime } from "../../platform/clock.ts";
import { estimateOf, usualMinutes } from "../../runs/history/run-estimate.ts";
import type { Obstacle } from "../../runs/poll/obstacle.ts";
import { IMPORTED, isIdle, type Run } from "../../runs/run.ts";
import { isTableStart } from "../../runs/start/start-options.ts";
import type { RunHead } from "./run-view.ts";

export function headOf(run: Run, now: number): RunHead {
  return {
    task_id: run.taskId,
    kind: run.kind,
    query: run.query,
    title: run.title,
    tags: run.tags.length === 0 ? undefined : [...run.tags],
    note_of_user: run.note,
    imported: run.backend === IMPORTED || undefined,
    starred: run.starred || undefined,
    archived: run.archived || undefined,
    status: run.status,
    progress: run.progress,
    progress_is_estimate: (run.kind === "agent" && !isIdle(run.status)) || undefined,
    current_action: actionOf(run),
    created_at: isoTime(run.createdAt),
    started_at: timeOf(run.startedAt),
    completed_at: timeOf(run.completedAt),
    ...costFields(run.cost),
    estimated_usd: estimateOf(run.estimate).usd?.likely,
    stalled_since: stalledSince(run, now),
    followup_context: run.followupContext,
    is_table: isTableStart(run.options) || undefined,
    usual_minutes: isInProgress(run) ? usualMinutes(run) : undefined,
    error_code: run.status === "failed" ? run.error?.code : undefined,
    error_message: run.status === "failed" ? run.error?.message : undefined,
  };
}

/** Google sends no heartbeat; most runs send an event about every minute. */
const STALLED_AFTER_MS = 10 * 60_000;

function stalledSince({ status, lastEventAt }: Run, now: number): string | undefined {
  if (status !== "running_async" || lastEventAt === undefined) return undefined;
  return now - lastEventAt > STALLED_AFTER_MS ? isoTime(lastEventAt) : undefined;
}

/** Not a start whose response was lost, because whether it runs is unknown, and not a plan that waits for approval. */
export const isInProgress = ({ status }: Run): boolean => !isIdle(status) && status !== "start_unknown";

export const timeOf = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : isoTime(ms));

const ACTION: Record<Run["status"], string> = {
  pending: "Waiting for Google to accept the research",
  running: "Working",
  running_async: "Researching",
  start_unknown: "It is not known whether Google started it",
  awaiting_approval: "The plan is ready and waits for approval",
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
};

/** Shown while polls fail; afterwards the last known action is shown again. */
const OBSTRUCTED: Record<Exclude<Obstacle["kind"], "other_key" | "other_address">, string> = {
  unreachable: "Google cannot be reached; trying again",
  failing: "Google's service is overloaded or failing; trying again",
  unreadable: "Google's answer cannot be read; trying again",
  billing: "Google refuses polls because the prepaid credits are used up; add credits at https://ai.studio/projects",
  location: "Google does not serve this server's location; trying again",
  credentials: "Google reports more than one credential in each poll; trying again",
  missing: "Google does not find this research at the moment; trying again",
  forbidden: "Google does not allow polls at the moment; trying again",
  rejected: "Google rejects requests for this research at the moment; trying again",
  too_long: "Google's response is too large to be read here; AI Studio shows the research",
};

function obstacleText({ kind, setting }: Obstacle): string {
  if (kind === "other_key")
    return `Waiting: it was started with another API key (its SHA-256 begins with ${setting ?? "none"}); set GEMINI_API_KEY to that key to collect it`;
  if (kind !== "other_address") return OBSTRUCTED[kind];
  return setting === undefined
    ? "Waiting: it was started at Google's own address; unset GOOGLE_GEMINI_BASE_URL to collect it"
    : `Waiting: it was started at ${setting}; set GOOGLE_GEMINI_BASE_URL to that address to collect it`;
}

function actionOf({ obstacle, currentAction, status, hasWarning }: Run): string {
  if (obstacle !== undefined) return obstacleText(obstacle);
  if (status === "completed" && hasWarning) return "Completed with a warning: the note of its report says why";
  return currentAction ?? ACTION[status];
}
