/** `check_research_status`: state, progress and cost of a run, read from the store. */

import { hash } from "node:crypto";
import { z } from "zod";
import { knownTokens, type Run, type RunError } from "../runs/run.ts";
import { minutesLeft, timeLeftText } from "../runs/activity/time-left.ts";
import { adviceText } from "./parts/advice.ts";
import { nextAfterFailure } from "./parts/after-failure.ts";
import { reportText } from "./parts/answer-text.ts";
import { createActionReporter, followRun, isOver } from "./parts/follow-run.ts";
import { planAnswer, planFields } from "./parts/plan.ts";
import { headOf } from "./view/head-view.ts";
import { readLive } from "./view/read-view.ts";
import { costSchema, type RunLive, tokensUsed } from "./view/run-view.ts";
import {
  type Call,
  cursorField,
  defineOperation,
  type OperationDeps,
  outputSchema,
  taskIdField,
  wholeNumberField,
} from "./operation.ts";

const CURSOR_FORMAT = /^(\d{1,6})-(\d{1,3})-([0-9a-f]{8})(-stalled)?$/;

export const waitField = wholeNumberField("wait_seconds", { min: 0, max: 50 }).default(0);

export const checkResearchStatus = defineOperation({
  name: "check_research_status",
  title: "Check research status",
  description:
    "Deep research status: progress, current action, time and cost of a run, whether it stalled. To wait, call it in a loop with wait_seconds 45 and the last cursor: it returns when the run ends, stalls or advances by a tenth. Not for the report (get_research_results). Free, local.",
  input: z.strictObject({
    task_id: taskIdField,
    wait_seconds: waitField.describe("Wait so long for news."),
    cursor: cursorField(CURSOR_FORMAT),
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
    const run = await waitForChange(deps, await deps.findRun(call.owner, input.task_id), {
      call,
      ms: input.wait_seconds * 1_000,
      seen,
    });
    const live = await readLive(deps, run);
    const mark = markOf(live.last_thought);
    const isStalled = live.stalled_since !== undefined;
    return {
      ...statusOf(live, deps.clock.now()),
      ...(await planAnswer(deps, call, { run, live })),
      last_thought: mark === seen?.thoughtMark ? undefined : live.last_thought,
      backup_file: live.backup_file,
      cursor: `${(seen?.calls ?? 0) + 1}-${Math.floor(live.progress)}-${mark}${isStalled ? "-stalled" : ""}`,
      error: live.error && { ...live.error, suggestion: adviceOn(live, live.error) },
    };
  },
  // Which run and how far it is comes first; what it does comes last: some clients show a person only the last lines.
  toText: ({ success: _success, plan, last_thought, current_action, task_id, status, progress, error, ...facts }) =>
    reportText(
      { plan },
      { ...facts, ...overdue(facts, status), last_thought, error, current_action },
      { task_id, status, progress },
    ),
});

function statusOf(run: RunLive, now: number) {
  const elapsedMs = elapsedOf(run, now);
  return {
    success: true,
    task_id: run.task_id,
    status: run.status,
    progress: run.progress,
    progress_is_estimate: run.backup_file === undefined ? run.progress_is_estimate : undefined,
    current_action: run.current_action,
    elapsed_minutes: Math.round(elapsedMs / 600) / 100,
    tokens_used: knownTokens({ tokens: run.tokens, usageFinal: run.usage_final }),
    cost_so_far: run.cost_usd,
    cost_incomplete: run.cost_incomplete,
    cost_estimated: run.cost_estimated,
    estimated_cost: estimatedCost(run),
    estimated_completion_minutes: minutesLeftOf(run, elapsedMs),
    stalled_since: run.stalled_since,
    unpolled_since: run.unpolled_since,
  };
}

function elapsedOf({ started_at: start, created_at: created, ...run }: RunLive, now: number): number {
  const end = run.completed_at ?? run.waiting_since;
  return (end === undefined ? now : Date.parse(end)) - Date.parse(start ?? created);
}

/** Of the whole run, while it is in progress; what one has cost that is not polled, and may have ended, is not guessed. */
function estimatedCost({ activity, unpolled_since, estimate: { min_usd, likely_usd, max_usd } = {} }: RunLive) {
  if (activity === undefined || unpolled_since !== undefined || likely_usd === undefined || max_usd === undefined)
    return undefined;
  return { min_usd, likely_usd, max_usd };
}

/** 0 while it runs: it takes longer than usual. A run that is not polled may have ended long ago. */
function minutesLeftOf({ progress, usual_minutes: usual, ...run }: RunLive, elapsedMs: number): number | undefined {
  if (run.unpolled_since !== undefined || run.status === "start_unknown") return undefined;
  return usual === undefined || run.backup_file !== undefined ? 0 : minutesLeft({ progress, elapsedMs, usual });
}

const adviceOn = (run: RunLive, { suggestion }: RunError): string | undefined =>
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

const markOf = (thought = ""): string => hash("sha256", thought).slice(0, 8);

interface Waiting {
  call: Call;
  ms: number;
  seen: Seen | undefined;
}

/** A larger step would hide progress, a smaller one would cost the model more turns. */
const PROGRESS_STEP_PERCENT = 10;

/** Waits for a change that is worth a turn of the model. */
async function waitForChange(deps: OperationDeps, run: Run, { call, ms, seen }: Waiting): Promise<Run> {
  if (ms === 0) return run;
  const known = seen?.progress ?? run.progress;
  const report = createActionReporter(deps, call);
  const isStalled = (now: Run): boolean => headOf(now, deps.clock.now()).stalled_since !== undefined;
  const wasStalled = seen?.stalled ?? isStalled(run);
  return followRun(deps, run, {
    call,
    ms,
    until: (now) => {
      if (isOver(deps, now) || now.progress >= known + PROGRESS_STEP_PERCENT || (!wasStalled && isStalled(now)))
        return true;
      report(now);
      return false;
    },
  });
}
