/** `check_research_status`: state, progress and cost of a run, read from the store. */

import { z } from "zod";
import { isIdle, knownTokens, type Run, type RunError } from "../runs/run.ts";
import { minutesLeft, timeLeftText } from "../runs/activity/time-left.ts";
import { unpolledSince } from "../runs/scheduling/overdue-store.ts";
import { watchProgress } from "../runs/streams/watched-streams.ts";
import { usualMinutes } from "../runs/history/run-estimate.ts";
import { waitForRun } from "../runs/history/read.ts";
import { isoTime } from "../platform/clock.ts";
import { adviceText } from "./parts/advice.ts";
import { backupOf, nextAfterFailure } from "./parts/after-failure.ts";
import { reportText } from "./parts/answer-text.ts";
import { readLive, stalledSince } from "./view/read-view.ts";
import { costSchema, tokensUsed } from "./view/run-view.ts";
import { lastPlan, planFields } from "./parts/plan.ts";
import { createActionReporter, shortActionOf } from "./parts/run-action.ts";
import {
  type Call,
  defineOperation,
  type OperationDeps,
  outputSchema,
  taskIdField,
  wholeNumberField,
} from "./operation.ts";

const CURSOR_FORMAT = /^(\d{1,6})-(\d{1,3})-([0-9a-f]{8})(-stalled)?$/;
const CURSOR_ERROR = "{cursor} must be the one from the previous answer.";

export const waitField = wholeNumberField("wait_seconds", { min: 0, max: 50 }).default(0);

export const checkResearchStatus = defineOperation({
  name: "check_research_status",
  title: "Check research status",
  description:
    "Returns the status of a run: progress, current action, time, cost, whether it stalled. To wait, call it in a loop with wait_seconds 45 and the last cursor: it returns when the run ends, stalls or advances by a tenth. Not for the report (get_research_results). Free and local; instant without wait_seconds.",
  input: z.strictObject({
    task_id: taskIdField,
    wait_seconds: waitField.describe("Wait up to this long for such news."),
    cursor: z
      .string({ error: CURSOR_ERROR })
      .regex(CURSOR_FORMAT, { error: CURSOR_ERROR })
      .optional()
      .describe("cursor of the previous answer."),
  }),
  output: outputSchema({
    cursor: z.string().describe("Pass it to the next call."),
    current_action: z.string(),
    elapsed_minutes: z.number(),
    tokens_used: tokensUsed.optional(),
    cost_so_far: z.number().describe("Absent while Google has reported none."),
    cost_incomplete: costSchema.cost_incomplete,
    cost_estimated: costSchema.cost_estimated,
    estimated_completion_minutes: z.number().describe("An estimate; 0 while it runs: overdue."),
    progress_is_estimate: z.boolean(),
    stalled_since: z.string().describe("Google has sent nothing since this time."),
    unpolled_since: z.string().describe("No process has asked Google about it since this time."),
    last_thought: z.string().describe("The newest thought, unless the cursor's answer had it."),
    ...planFields,
    backup_file: z.string().describe("Where the report was saved because the database refused it."),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: "task_id",
  webText: ["last_thought", "plan"],
  waitFlag: "watch",
  run: async (deps, input, call) => {
    const seen = readCursor(input.cursor);
    const found = await deps.findRun(call.owner, input.task_id);
    const wait = { call, ms: input.wait_seconds * 1_000, seen };
    const run = await waitForChange(deps, found, wait);
    const live = await readLive(deps, run);
    const now = deps.clock.now();
    const endedAt = run.completedAt ?? (run.status === "awaiting_approval" ? run.updatedAt : now);
    const elapsed = endedAt - (run.startedAt ?? run.createdAt);
    const { last_thought: thought, stalled_since: stalled } = live;
    const mark = await markOf(thought);
    const running = !isIdle(run.status) && live.backup_file === undefined;
    const unpolled = await unpolledSince(await deps.database(), run.taskId, now);
    return {
      success: true,
      task_id: live.task_id,
      status: live.status,
      progress: live.progress,
      progress_is_estimate: running ? live.progress_is_estimate : undefined,
      current_action: shortActionOf(live.current_action, thought),
      elapsed_minutes: Math.round(elapsed / 600) / 100,
      tokens_used: knownTokens({ tokens: live.tokens, usageFinal: live.usage_final }),
      cost_so_far: live.cost_usd,
      cost_incomplete: live.cost_incomplete,
      cost_estimated: live.cost_estimated,
      // 0 while it runs: it takes longer than usual. A run that nobody polls may have ended long ago.
      estimated_completion_minutes:
        unpolled !== undefined
          ? undefined
          : running
            ? minutesLeft({ progress: run.progress, elapsedMs: elapsed, usual: usualMinutes(run) })
            : 0,
      stalled_since: stalled,
      unpolled_since: unpolled === undefined ? undefined : isoTime(unpolled),
      ...(await lastPlan(deps, call, run)),
      last_thought: mark === seen?.thoughtMark ? undefined : thought,
      backup_file: live.backup_file,
      cursor: `${(seen?.calls ?? 0) + 1}-${Math.floor(run.progress)}-${mark}${stalled === undefined ? "" : "-stalled"}`,
      error: live.error && { ...live.error, suggestion: adviceOn(run, live.error) },
    };
  },
  // What a person must see comes last: some clients show only the last three lines.
  toText: ({ success: _success, plan, last_thought, current_action, status, progress, error, ...facts }) =>
    reportText(
      { plan },
      { last_thought, ...facts, ...overdue(facts, status), error, current_action, status, progress },
    ),
});

const adviceOn = (run: Run, { suggestion }: RunError): string | undefined =>
  adviceText({ suggestion, next: nextAfterFailure(run) });

/** Alone, 0 minutes would read as "done at any moment". */
const overdue = (
  { estimated_completion_minutes: minutes }: { estimated_completion_minutes?: number | undefined },
  status: string | undefined,
) =>
  minutes === 0 && (status === "running" || status === "running_async")
    ? { estimated_completion_minutes: `0 (${timeLeftText(0)})` }
    : {};

/** State of the run in the previous answer, as its cursor encodes it. */
interface Seen {
  /** Makes every cursor different: Gemini CLI ends a session that makes the same call five times. */
  calls: number;
  progress: number;
  thoughtMark: string;
  stalled: boolean;
}

function readCursor(cursor: string | undefined): Seen | undefined {
  const [, calls, progress, thoughtMark = "", stalled] = CURSOR_FORMAT.exec(cursor ?? "") ?? [];
  if (calls === undefined) return undefined;
  return { calls: Number(calls), progress: Number(progress), thoughtMark, stalled: stalled !== undefined };
}

async function markOf(thought: string | undefined): Promise<string> {
  const { hash } = await import("node:crypto");
  return hash("sha256", thought ?? "").slice(0, 8);
}

interface Waiting {
  call: Call;
  ms: number;
  seen: Seen | undefined;
}

/** Nothing more happens without the user. */
const isOver = (deps: Pick<OperationDeps, "backupOf">, run: Run): boolean =>
  isIdle(run.status) || run.status === "start_unknown" || backupOf(deps, run) !== undefined;

/** A larger step would hide progress, a smaller one would cost the model more turns. */
const PROGRESS_STEP_PERCENT = 10;

/** Waits for a change that is worth a turn of the model; any process may poll the run and store the change. */
async function waitForChange(deps: OperationDeps, run: Run, { call, ms, seen }: Waiting): Promise<Run> {
  const known = seen?.progress ?? run.progress;
  const report = createActionReporter(deps, call);
  const wasStalled = seen?.stalled ?? stalledSince(run, deps.clock.now()) !== undefined;
  return waitWatching(deps, run, {
    call,
    ms,
    until: async (now) => {
      const isStalled = stalledSince(now, deps.clock.now()) !== undefined;
      if (isOver(deps, now) || now.progress >= known + PROGRESS_STEP_PERCENT || (!wasStalled && isStalled)) return true;
      await report(now);
      return false;
    },
  });
}

interface Watching {
  call: Call;
  ms: number;
  until: (run: Run) => Promise<boolean>;
}

/** Waits for news of a run that is not over, and has its progress streamed meanwhile. */
export async function waitWatching(deps: OperationDeps, run: Run, { call, ms, until }: Watching): Promise<Run> {
  if (isOver(deps, run) || ms === 0) return run;
  const unwatch = run.kind === "agent" ? await followRun(deps, run) : () => {};
  return waitForRun(await deps.database(), deps.clock, {
    owner: call.owner,
    taskId: run.taskId,
    until,
    ms,
    signal: AbortSignal.any([call.signal, deps.leaving]),
  }).finally(unwatch);
}

/** Polls the run from this process too, in case no other does; without a key or after an error the store is only read. */
async function followRun(deps: OperationDeps, run: Run): Promise<() => void> {
  try {
    if ((await deps.agent()) === undefined) return () => {};
    const { runner } = await deps.research();
    runner.start();
    return watchProgress(runner, run);
  } catch {
    deps.log.debug("This process could not poll the run.");
    return () => {};
  }
}
