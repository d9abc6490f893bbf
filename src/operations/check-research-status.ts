/** `check_research_status`: where a run stands, from the store alone. */

import { z } from "zod";
import { costFields } from "../costs/actual.ts";
import { isRecord } from "../platform/is-record.ts";
import { lastEvent } from "../runs/event-store.ts";
import { typicalMinutes } from "../runs/progress.ts";
import { isFinished, type Run } from "../runs/run.ts";
import { waitForRun } from "../runs/wait.ts";
import { factLines } from "./answer-text.ts";
import { costSchema } from "./cost-schema.ts";
import { type Call, defineOperation, type OperationDeps, outputSchema, taskId } from "./operation.ts";
import { tokensUsed } from "./run-search.ts";

/** Google shows no heartbeat; most runs say something every minute or so. */
const STALLED_AFTER_MS = 10 * 60_000;

const CURSOR = "cursor must be the one of the answer before.";
const WAIT = "wait_seconds must be a whole number from 0 to 50.";

export const checkResearchStatus = defineOperation({
  name: "check_research_status",
  title: "Check research status",
  description:
    "Says where a run stands: state, progress, current action, elapsed time, cost so far, whether it looks stuck. To wait for a run, call it in a loop with wait_seconds 45 and the last cursor: it returns on any change. Not for the report (get_research_results). Free and local; instant without wait_seconds.",
  input: z.strictObject({
    task_id: taskId,
    wait_seconds: z
      .int({ error: WAIT })
      .min(0, { error: WAIT })
      .max(50, { error: WAIT })
      .default(0)
      .describe("Wait up to this long for something to change."),
    cursor: z
      .string({ error: CURSOR })
      .regex(/^\d{1,6}-[0-9a-f]{8}$/, { error: CURSOR })
      .optional()
      .describe("cursor of the answer before."),
  }),
  output: outputSchema({
    cursor: z.string().describe("Give it to the next call: a change since this answer is then not missed."),
    current_action: z.string(),
    elapsed_minutes: z.number(),
    tokens_used: tokensUsed,
    cost_so_far: z.number(),
    cost_incomplete: costSchema.cost_incomplete,
    cost_estimated: costSchema.cost_estimated,
    estimated_completion_minutes: z.number().describe("An estimate."),
    progress_is_estimate: z.boolean(),
    stalled_since: z.string().describe("Nothing has been heard since this time."),
    last_thought: z.string().describe("The newest summary of what the agent thinks."),
    backup_file: z.string().describe("Where the report was saved because the database refused it."),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: "task_id",
  webText: true,
  waitFlag: "watch",
  run: async (deps, input, call) => {
    const { looks, seen } = readCursor(input.cursor);
    const found = await deps.findRun(call.owner, input.task_id);
    const wait = { call, ms: input.wait_seconds * 1_000, seen };
    const run = wait.ms === 0 ? found : await whenChanged(deps, found, wait);
    const now = deps.clock.now();
    const elapsed = (run.completedAt ?? now) - (run.startedAt ?? run.createdAt);
    const thought = await lastThought(deps, run);
    const { cost_usd, ...marks } = costFields(run.cost);
    const running = !isFinished(run.status);
    return {
      success: true,
      task_id: run.taskId,
      status: run.status,
      progress: run.progress,
      progress_is_estimate: running && run.kind === "agent" ? true : undefined,
      current_action: actionOf(run),
      elapsed_minutes: Math.round(elapsed / 600) / 100,
      tokens_used: run.tokens,
      cost_so_far: cost_usd ?? (running ? 0 : undefined),
      ...marks,
      estimated_completion_minutes: running ? remainingMinutes(run, elapsed) : 0,
      stalled_since: stalledSince(run, now),
      last_thought: thought,
      backup_file: deps.backupOf(run.taskId),
      cursor: `${looks + 1}-${await stateMark(run, thought)}`,
      error: run.error,
    };
  },
  toText: ({ success: _success, ...facts }) => factLines(facts),
});

/** Counts the looks, so that no two calls are alike: Gemini CLI ends a session that makes the same call five times. */
function readCursor(cursor: string | undefined): { looks: number; seen: string | undefined } {
  const [looks, seen] = cursor?.split("-") ?? [];
  return { looks: Number(looks ?? 0), seen };
}

async function stateMark({ status, progress, currentAction }: Run, thought: string | undefined): Promise<string> {
  const { createHash } = await import("node:crypto");
  const state = JSON.stringify([status, progress, currentAction, thought]);
  return createHash("sha256").update(state).digest("hex").slice(0, 8);
}

interface Waiting {
  call: Call;
  ms: number;
  /** The state that the caller has seen; undefined: the one that it meets. */
  seen: string | undefined;
}

/** Whichever process follows the run: what it stores is seen here. */
async function whenChanged(deps: OperationDeps, run: Run, { call, ms, seen }: Waiting): Promise<Run> {
  if (isFinished(run.status)) return run;
  if (run.kind === "agent") deps.inBackground(followToo(deps));
  const known = seen ?? (await stateMark(run, await lastThought(deps, run)));
  return waitForRun(await deps.database(), deps.clock, {
    owner: call.owner,
    taskId: run.taskId,
    until: async (now) => (await stateMark(now, await lastThought(deps, now))) !== known,
    ms,
    signal: AbortSignal.any([call.signal, deps.leaving]),
  });
}

/** No other process may be there to look at Google; without a key, or with a fault, the store is all there is. */
async function followToo(deps: OperationDeps): Promise<void> {
  try {
    if ((await deps.agent()) !== undefined) (await deps.research()).runner.start();
  } catch {
    deps.log.debug("The run could not be followed from here.");
  }
}

export const lastThought = async (deps: OperationDeps, { kind, taskId: id }: Run): Promise<string | undefined> =>
  kind === "agent" ? (await lastEvent(await deps.database(), id, "thought"))?.text : undefined;

const ACTION: Record<Run["status"], string> = {
  pending: "Waiting for Google to accept the research",
  running: "Working",
  running_async: "Researching",
  start_unknown: "Nobody knows whether Google started it; resume_research says what can be done",
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
};

export const actionOf = ({ currentAction, status }: Run): string => currentAction ?? ACTION[status];

export function remainingMinutes(run: Run, elapsedMs: number): number {
  const { minutes } = run.estimate;
  const likely = isRecord(minutes) && typeof minutes["likely"] === "number" ? minutes["likely"] : undefined;
  return Math.max(1, Math.round((likely ?? typicalMinutes(run.model ?? "")) - elapsedMs / 60_000));
}

export function stalledSince(run: Run, now: number): string | undefined {
  if (run.status !== "running_async" || run.lastEventAt === undefined) return undefined;
  return now - run.lastEventAt > STALLED_AFTER_MS ? new Date(run.lastEventAt).toISOString() : undefined;
}
