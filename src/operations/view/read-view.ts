/** Makes the view of a stored run, at the depth that a surface needs (`run-view.ts`). */

import { costFields } from "../../costs/actual.ts";
import { isoTime } from "../../platform/clock.ts";
import { readActivity } from "../../runs/activity/activity.ts";
import { estimateOf, usualMinutes } from "../../runs/history/run-estimate.ts";
import type { RunTimelineEntry } from "../../runs/history/timeline.ts";
import { newestPlan } from "../../runs/plan/plan-store.ts";
import { reportPresence } from "../../runs/result-store.ts";
import { isFinished, isIdle, type Run } from "../../runs/run.ts";
import { isTableStart } from "../../runs/start/start-options.ts";
import type { OperationDeps } from "../operation.ts";
import { withRefusedEnd } from "../parts/after-failure.ts";
import { materialSent, materialTexts } from "../parts/material.ts";
import { actionOf, lastThought } from "../parts/run-action.ts";
import { wishesIn } from "../question/wishes.ts";
import type { RunAction, RunHead, RunLive, TimelineEntry } from "./run-view.ts";

export function headOf(run: Run, now: number): RunHead {
  return {
    task_id: run.taskId,
    kind: run.kind,
    query: run.query,
    title: run.title,
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
  };
}

/** What reading a view takes besides the run. */
type Reader = Pick<OperationDeps, "clock" | "database" | "backupOf" | "recorder">;

export async function readLive(deps: Reader, stored: Run): Promise<RunLive> {
  const run = await withRefusedEnd(deps, stored);
  const db = await deps.database();
  const text = isFinished(run.status) ? await reportPresence(db, run.taskId) : undefined;
  const material = materialSent(run);
  return {
    ...headOf(run, deps.clock.now()),
    actions: actionsFor(run, { hasText: text !== undefined }),
    has_report: text !== undefined,
    plan_turn: run.part === "plan" || run.part === "research" ? (await newestPlan(db, run.taskId))?.turn : undefined,
    partial: text?.partial || undefined,
    mode: run.mode,
    model: run.model,
    backend: run.backend,
    client: run.client,
    interaction_id: run.interactionId,
    parent_task_id: run.parentTaskId,
    deadline_at: timeOf(run.deadlineAt),
    cancel_requested_at: timeOf(run.cancelRequestedAt),
    tokens: run.tokens,
    usage_final: run.usageFinal,
    wishes: wishesIn(run.options),
    material: material && materialTexts(material),
    estimate: estimateIn(run),
    activity: isInProgress(run) ? await readActivity(db, run) : undefined,
    last_thought: await lastThought(db, run),
    backup_file: deps.backupOf(run.taskId)?.path,
    error: run.error,
  };
}

/** Google sends no heartbeat; most runs send an event about every minute. */
const STALLED_AFTER_MS = 10 * 60_000;

export function stalledSince({ status, lastEventAt }: Run, now: number): string | undefined {
  if (status !== "running_async" || lastEventAt === undefined) return undefined;
  return now - lastEventAt > STALLED_AFTER_MS ? isoTime(lastEventAt) : undefined;
}

/** Not a start whose response was lost, because whether it runs is unknown, and not a plan that waits for approval. */
const isInProgress = ({ status }: Run): boolean => !isIdle(status) && status !== "start_unknown";

function estimateIn({ estimate }: Run): RunLive["estimate"] {
  const { usd, minutes } = estimateOf(estimate);
  if (usd === undefined && minutes === undefined) return undefined;
  return { min_usd: usd?.min, likely_usd: usd?.likely, max_usd: usd?.max, likely_minutes: minutes?.likely };
}

/** The actions to offer; the operations check again whether one is possible. */
export function actionsFor(
  { kind, status, interactionId }: Pick<Run, "kind" | "status" | "interactionId">,
  { hasText }: { hasText: boolean },
): RunAction[] {
  if (status === "start_unknown") return ["adopt", "restart", "cancel"];
  if (!isFinished(status)) return ["cancel"];
  if (kind === "agent" && status === "failed" && interactionId !== undefined) return ["poll_again", "delete"];
  // The text is that of the finished rounds: without one there is nothing to continue.
  if (kind === "deep_search" && status !== "completed" && hasText) return ["continue", "delete"];
  return ["delete"];
}

const timeOf = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : isoTime(ms));

export const timelineEntry = ({ id, at, kind, text }: RunTimelineEntry): TimelineEntry => ({
  id,
  at: isoTime(at),
  kind,
  text,
});
