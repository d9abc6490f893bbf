/** A run as the dashboard shows it: an entry of the list, the details of one run, an entry of its timeline. */

import { costFields } from "../../costs/actual.ts";
import { stalledSince } from "../../operations/check-research-status.ts";
import { withRefusedEnd } from "../../operations/parts/after-failure.ts";
import { materialIn, materialTexts } from "../../operations/parts/material.ts";
import { actionOf, lastThought } from "../../operations/parts/run-action.ts";
import type { OperationDeps } from "../../operations/operation.ts";
import { wishesIn } from "../../operations/question/wishes.ts";
import { isoTime } from "../../platform/clock.ts";
import { readActivity } from "../../runs/activity/activity.ts";
import { newestPlan } from "../../runs/plan/plan-store.ts";
import { reportPresence } from "../../runs/result-store.ts";
import { isFinished, isIdle, type Run } from "../../runs/run.ts";
import { estimateOf, usualMinutes } from "../../runs/history/run-estimate.ts";
import { isTableStart } from "../../runs/start/start-options.ts";
import type { RunTimelineEntry } from "../../runs/history/timeline.ts";
import type { LiveActivity, RunAction, RunDetail, RunSummary, TimelineEntry } from "../wire.ts";

export function summaryOf(run: Run, now: number): RunSummary {
  return omitUndefined({
    task_id: run.taskId,
    kind: run.kind,
    query: run.query,
    title: run.title,
    starred: run.starred ? (true as const) : undefined,
    archived: run.archived ? (true as const) : undefined,
    status: run.status,
    progress: run.progress,
    progress_is_estimate:
      run.kind === "agent" && (isInProgress(run) || run.status === "start_unknown") ? true : undefined,
    current_action: actionOf(run),
    created_at: isoTime(run.createdAt),
    started_at: time(run.startedAt),
    completed_at: time(run.completedAt),
    ...costFields(run.cost),
    estimated_usd: estimateOf(run.estimate).usd?.likely,
    stalled_since: stalledSince(run, now),
    followup_context: run.followupContext,
    is_table: isTableStart(run.options) ? (true as const) : undefined,
    usual_minutes: isInProgress(run) ? usualMinutes(run) : undefined,
  });
}

/** Not a start whose response was lost, because whether it runs is unknown, and not a plan that waits for approval. */
const isInProgress = ({ status }: Run): boolean => !isIdle(status) && status !== "start_unknown";

export async function detailOf(deps: OperationDeps, stored: Run): Promise<RunDetail> {
  const run = await withRefusedEnd(deps, stored);
  const now = deps.clock.now();
  const finished = isFinished(run.status);
  const text = finished ? await reportPresence(await deps.database(), run.taskId) : undefined;
  const { usd, minutes } = estimateOf(run.estimate);
  return omitUndefined({
    ...summaryOf(run, now),
    actions: actionsFor(run, { hasText: text !== undefined }),
    has_report: text !== undefined,
    plan_turn: run.plan === undefined ? undefined : (await newestPlan(await deps.database(), run.taskId))?.turn,
    partial: text?.partial === true ? true : undefined,
    mode: run.mode,
    model: run.model,
    backend: run.backend,
    client: run.client,
    interaction_id: run.interactionId,
    parent_task_id: run.parentTaskId,
    deadline_at: time(run.deadlineAt),
    cancel_requested_at: time(run.cancelRequestedAt),
    tokens: run.tokens,
    usage_final: run.usageFinal,
    wishes: wishesView(run),
    material: materialLinesOf(run),
    estimate:
      usd === undefined && minutes === undefined
        ? undefined
        : omitUndefined({
            min_usd: usd?.min,
            likely_usd: usd?.likely,
            max_usd: usd?.max,
            likely_minutes: minutes?.likely,
          }),
    activity: isInProgress(run) ? await activityOf(deps, run) : undefined,
    last_thought: await lastThought(deps, run),
    backup_file: deps.backupOf(run.taskId)?.path,
    error: run.error && omitUndefined(run.error),
  });
}

function wishesView({ options }: Run): RunDetail["wishes"] {
  const wishes = wishesIn(options);
  return wishes === undefined ? undefined : omitUndefined(wishes);
}

function materialLinesOf(run: Run): string[] | undefined {
  const { material } = materialIn(run);
  return material === undefined ? undefined : materialTexts(material);
}

async function activityOf(deps: OperationDeps, run: Run): Promise<LiveActivity> {
  const { latestSites, ...counted } = await readActivity(await deps.database(), run);
  return { ...counted, latest_sites: latestSites };
}

export const timelineEntry = ({ id, at, kind, text }: RunTimelineEntry): TimelineEntry => ({
  id,
  at: isoTime(at),
  kind,
  text,
});

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

const time = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : isoTime(ms));

type DefinedFields<Given> = { [Key in keyof Given as undefined extends Given[Key] ? never : Key]: Given[Key] } & {
  [Key in keyof Given as undefined extends Given[Key] ? Key : never]?: Exclude<Given[Key], undefined>;
};

/** A copy without the fields that are undefined. */
export function omitUndefined<Given extends object>(given: Given): DefinedFields<Given>;
export function omitUndefined(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
