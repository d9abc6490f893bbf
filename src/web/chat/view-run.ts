/** `view_run`: a run with its timeline, for the run card of an MCP App. Not for models, which use check_research_status. */

import { z } from "zod";
import { waitField } from "../../operations/check-research-status.ts";
import { followRun } from "../../operations/parts/follow-run.ts";
import {
  type Call,
  cursorField,
  defineOperation,
  type OperationDeps,
  outputSchema,
  queryField,
  taskIdField,
} from "../../operations/operation.ts";
import { AppError } from "../../errors.ts";
import { planAnswer } from "../../operations/parts/plan.ts";
import { cleanText } from "../../platform/clean-text.ts";
import { isoTime } from "../../platform/clock.ts";
import type { Run } from "../../runs/run.ts";
import { listRuns } from "../../runs/run-store.ts";
import { milestones, readTimeline, type RunTimelineEntry, timelineEntriesAfter } from "../../runs/history/timeline.ts";
import { readLive, timelineEntry } from "../../operations/view/read-view.ts";
import type { CardPlan, RunCardView } from "../wire.ts";

/** A card has room for these; the page shows all. */
const MAX_ENTRIES = 200;
/** How many of the newest runs are compared with a question, and how long ago they may have ended. */
const MAX_COMPARED = 20;
const MAX_ENDED_AGO_MS = 60_000;

const CURSOR_FORMAT = /^(\d{1,15})-(\d{1,3})-([a-z_]{1,20})$/;

export const viewRun = defineOperation({
  name: "view_run",
  title: "View a run",
  description: "Returns a run and what is new in its timeline, for the card that shows it in the chat. Free, local.",
  input: z.strictObject({
    task_id: taskIdField.optional(),
    query: queryField("query").optional().describe("Without task_id: the question of the run, which was just asked."),
    wait_seconds: waitField.describe("Wait up to this long for news."),
    cursor: cursorField(CURSOR_FORMAT),
  }),
  output: outputSchema({
    cursor: z.string(),
    run: z.looseObject({}),
    entries: z.array(z.looseObject({ id: z.string(), at: z.string(), kind: z.string(), text: z.string() })),
    plan: z.looseObject({ text: z.string() }).describe("While it waits for approval."),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: undefined,
  run: async (deps, input, call) => {
    const seen = readCursor(input.cursor);
    const found = await requestedRun(deps, call, input);
    const run =
      seen === undefined ? found : await waitForNews(deps, found, { call, seen, ms: input.wait_seconds * 1_000 });
    const { entries, seq } = await newEntries(deps, run, seen?.seq);
    const view: RunCardView = {
      run: await readLive(deps, run),
      entries: entries.map(timelineEntry),
      plan: await cardPlan(deps, call, run),
    };
    return {
      success: true,
      task_id: run.taskId,
      status: run.status,
      progress: run.progress,
      ...view,
      cursor: `${seq}-${Math.floor(run.progress)}-${run.status}`,
    };
  },
  toText: ({ task_id, status, progress }) => `task_id: ${task_id}\nstatus: ${status}\nprogress: ${progress}`,
});

/** The run with this id, or the newest one with this question: a call that is still running has not returned its id. */
async function requestedRun(
  deps: OperationDeps,
  { owner }: Call,
  { task_id: taskId, query }: { task_id?: string | undefined; query?: string | undefined },
): Promise<Run> {
  if (taskId !== undefined) return deps.findRun(owner, taskId);
  const runs =
    query === undefined ? [] : await listRuns(await deps.database(), { owner, limit: MAX_COMPARED, ...ANY_RUN });
  const since = deps.clock.now() - MAX_ENDED_AGO_MS;
  const found = runs.find((run) => run.query === query && (run.completedAt ?? Infinity) >= since);
  if (found !== undefined) return found;
  throw new AppError({
    code: "TASK_NOT_FOUND",
    message: "There is no run with this question yet.",
    suggestion: "Ask again in a few seconds.",
  });
}

const ANY_RUN = { status: undefined, kind: undefined, before: undefined };

interface Seen {
  seq: number;
  progress: number;
  status: string;
}

function readCursor(cursor: string | undefined): Seen | undefined {
  const [, seq, progress, status] = CURSOR_FORMAT.exec(cursor ?? "") ?? [];
  return status === undefined ? undefined : { seq: Number(seq), progress: Number(progress), status };
}

/** Unlike a model, a card is updated by every entry of the timeline. */
async function waitForNews(
  deps: OperationDeps,
  run: Run,
  { call, seen, ms }: { call: Call; seen: Seen; ms: number },
): Promise<Run> {
  if (ms === 0) return run;
  const db = await deps.database();
  return followRun(deps, run, {
    call,
    ms,
    until: async (now) =>
      now.status !== seen.status ||
      Math.floor(now.progress) !== seen.progress ||
      (await timelineEntriesAfter(db, now, { after: seen.seq, limit: 1 })).length > 0,
  });
}

async function cardPlan(deps: OperationDeps, call: Call, run: Run): Promise<CardPlan | undefined> {
  if (run.status !== "awaiting_approval") return undefined;
  const { plan, estimated_cost } = await planAnswer(deps, call, { run });
  const expires_at = run.deadlineAt === undefined ? undefined : isoTime(run.deadlineAt);
  return plan === undefined ? undefined : { text: cleanText(plan), estimated_cost, expires_at };
}

/** Milestones have no sequence number and are always among them; a card merges entries by id. */
async function newEntries(
  deps: OperationDeps,
  run: Run,
  after: number | undefined,
): Promise<{ entries: RunTimelineEntry[]; seq: number }> {
  const db = await deps.database();
  if (after === undefined) {
    const { entries, lastSeq } = await readTimeline(db, run);
    return { entries: entries.slice(-MAX_ENTRIES), seq: lastSeq };
  }
  const events = await timelineEntriesAfter(db, run, { after, limit: MAX_ENTRIES });
  return { entries: [...(await milestones(db, run)), ...events], seq: events.at(-1)?.seq ?? after };
}
