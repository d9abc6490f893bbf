/** The live view of a run: its head, and what its events, its plan and its result say (`run-view.ts`). */

import { isoTime } from "../../platform/clock.ts";
import { readActivity } from "../../runs/activity/activity.ts";
import { lastEvent } from "../../runs/event-store.ts";
import { estimateOf, expectedUsd } from "../../runs/history/run-estimate.ts";
import type { RunTimelineEntry } from "../../runs/history/timeline.ts";
import { newestPlan } from "../../runs/plan/plan-store.ts";
import { reportPresence } from "../../runs/result-store.ts";
import { isFinished, isIdle, type Run } from "../../runs/run.ts";
import { unpolledSince } from "../../runs/scheduling/overdue-store.ts";
import type { OperationDeps } from "../operation.ts";
import { withRefusedEnd } from "../parts/after-failure.ts";
import { materialSent, materialTexts } from "./sent-material.ts";
import { wishesIn } from "../question/wishes.ts";
import { headOf, isInProgress, timeOf } from "./head-view.ts";
import type { RunAction, RunLive, TimelineEntry } from "./run-view.ts";

/** What reading a view takes besides the run. */
type Reader = Pick<OperationDeps, "clock" | "database" | "backupOf" | "recorder">;

export async function readLive(deps: Reader, stored: Run): Promise<RunLive> {
  const run = await withRefusedEnd(deps, stored);
  const db = await deps.database();
  const text = isFinished(run.status) ? await reportPresence(db, run.taskId) : undefined;
  const material = materialSent(run);
  const now = deps.clock.now();
  const activity = isInProgress(run) ? await readActivity(db, run) : undefined;
  return {
    ...headOf(run, now),
    actions: actionsFor(run, { hasText: text !== undefined }),
    has_report: text !== undefined,
    ...(run.part === "plan" || run.part === "research"
      ? planIn(run, await newestPlan(db, run.taskId), text === undefined)
      : {}),
    unpolled_since: run.status === "running_async" ? timeOf(await unpolledSince(db, run.taskId, now)) : undefined,
    partial: text?.partial || undefined,
    unresolved_links: text?.unresolvedLinks || undefined,
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
    estimate: estimateIn(run, activity?.searches ?? 0),
    activity,
    last_thought: run.kind === "agent" ? (await lastEvent(db, run.taskId, "thought"))?.text : undefined,
    backup_file: deps.backupOf(run.taskId)?.path,
    error: run.error,
  };
}

const planIn = (
  { status }: Run,
  plan: Awaited<ReturnType<typeof newestPlan>>,
  isOpen: boolean,
): Pick<RunLive, "plan_turn" | "plan" | "waiting_since"> => ({
  plan_turn: plan?.turn,
  plan: isIdle(status) && isOpen ? plan?.text : undefined,
  waiting_since: status === "awaiting_approval" ? timeOf(plan?.at) : undefined,
});

function estimateIn(run: Run, searches: number): RunLive["estimate"] {
  const { minutes, ...atStart } = estimateOf(run.estimate);
  const usd = (isInProgress(run) ? expectedUsd(run, searches) : undefined) ?? atStart.usd;
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

export const timelineEntry = ({ id, at, kind, text }: RunTimelineEntry): TimelineEntry => ({
  id,
  at: isoTime(at),
  kind,
  text,
});
