/** `check_research_status`: where a run stands, from the store alone. */

import { z } from "zod";
import { isRecord } from "../platform/is-record.ts";
import { lastEvent } from "../runs/event-store.ts";
import { typicalMinutes } from "../runs/progress.ts";
import { isFinished, type Run } from "../runs/run.ts";
import { factLines } from "./answer-text.ts";
import { defineOperation, outputSchema, taskId } from "./operation.ts";
import { tokensUsed } from "./run-search.ts";

/** Google shows no heartbeat; most runs say something every minute or so. */
const STALLED_AFTER_MS = 10 * 60_000;

export const checkResearchStatus = defineOperation({
  name: "check_research_status",
  title: "Check research status",
  description:
    "Says where a run stands: state, progress, what it is doing, elapsed time, cost so far, whether it looks stuck. Use it on a task_id from start_deep_research; wait a minute or more between calls. Not for the report (get_research_results). Reads the local database only: free, instant, no key needed.",
  input: z.strictObject({ task_id: taskId }),
  output: outputSchema({
    current_action: z.string(),
    elapsed_minutes: z.number(),
    tokens_used: tokensUsed,
    cost_so_far: z.number(),
    estimated_completion_minutes: z.number().describe("An estimate."),
    progress_is_estimate: z.boolean(),
    stalled_since: z.string().describe("Nothing has been heard since this time."),
    last_thought: z.string().describe("Untrusted model text."),
    backup_file: z.string().describe("Where the report was saved because the database refused it."),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: "task_id",
  waitFlag: "watch",
  run: async (deps, input, call) => {
    const run = await deps.findRun(call.owner, input.task_id);
    const now = deps.clock.now();
    const elapsed = (run.completedAt ?? now) - (run.startedAt ?? run.createdAt);
    const thought = run.kind === "agent" ? await lastEvent(await deps.database(), run.taskId, "thought") : undefined;
    const running = !isFinished(run.status);
    return {
      success: true,
      task_id: run.taskId,
      status: run.status,
      progress: run.progress,
      progress_is_estimate: running && run.kind === "agent" ? true : undefined,
      current_action: run.currentAction ?? ACTION[run.status],
      elapsed_minutes: Math.round(elapsed / 600) / 100,
      tokens_used: run.tokens,
      cost_so_far: run.costUsd ?? (running ? 0 : undefined),
      estimated_completion_minutes: running ? remainingMinutes(run, elapsed) : 0,
      stalled_since: stalledSince(run, now),
      last_thought: thought?.text,
      backup_file: deps.backupOf(run.taskId),
      error: run.error,
    };
  },
  toText: ({ success: _success, ...facts }) => factLines(facts),
});

const ACTION: Record<Run["status"], string> = {
  pending: "Waiting for Google to accept the research",
  running: "Working",
  running_async: "Researching",
  start_unknown: "Nobody knows whether Google started it; resume_research says what can be done",
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
};

function remainingMinutes(run: Run, elapsedMs: number): number {
  const { minutes } = run.estimate;
  const likely = isRecord(minutes) && typeof minutes["likely"] === "number" ? minutes["likely"] : undefined;
  return Math.max(1, Math.round((likely ?? typicalMinutes(run.model ?? "")) - elapsedMs / 60_000));
}

function stalledSince(run: Run, now: number): string | undefined {
  if (run.status !== "running_async" || run.lastEventAt === undefined) return undefined;
  return now - run.lastEventAt > STALLED_AFTER_MS ? new Date(run.lastEventAt).toISOString() : undefined;
}
