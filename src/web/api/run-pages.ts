/** What the page reads of runs: the list, a run's timeline, its conversation and its plan. */

import type { z } from "zod";
import { AppError } from "../../errors.ts";
import { conversationRoots, earlierTurns, laterTurns } from "../../operations/followup/conversation.ts";
import { followupTerms } from "../../operations/followup/prepare.ts";
import { countMatches, type libraryInput, runPage } from "../../operations/list-research.ts";
import type { Call, OperationDeps } from "../../operations/operation.ts";
import { planAnswer } from "../../operations/parts/plan.ts";
import { isTableRun } from "../../operations/parts/table.ts";
import { questionFor } from "../../operations/perform.ts";
import { resumeResearch } from "../../operations/resume-research.ts";
import { headOf } from "../../operations/view/head-view.ts";
import { timelineEntry } from "../../operations/view/read-view.ts";
import { cleanText } from "../../platform/clean-text.ts";
import { isoTime } from "../../platform/clock.ts";
import { readTimeline } from "../../runs/history/timeline.ts";
import { countListed, type ListCounts } from "../../runs/library/count-store.ts";
import { listTags } from "../../runs/library/organize-store.ts";
import { plansOf } from "../../runs/plan/plan-store.ts";
import { reportPresence } from "../../runs/result-store.ts";
import { isFinished, type Run } from "../../runs/run.ts";
import { consentQuestion } from "../consent.ts";

export async function listPage(deps: OperationDeps, owner: string, request: z.infer<typeof libraryInput>) {
  const db = await deps.database();
  const { runs, next_cursor } = await runPage(db, owner, request);
  const counts = await countListed(db, owner);
  const matches = await countMatches(db, owner, request);
  const now = deps.clock.now();
  const roots = await conversationRoots(
    db,
    runs.map(({ run }) => run),
  );
  const listed = new Set(runs.map(({ run }) => run.taskId));
  const others = new Map([...roots.values()].map((root) => [root.taskId, root]));
  return {
    // Of a follow-up, `root_id` is the run that began its conversation.
    runs: runs.map(({ run, found }) => ({ ...headOf(run, now), root_id: roots.get(run.taskId)?.taskId, found })),
    // Those runs, if they are not in this page themselves.
    roots: [...others.values()].filter(({ taskId }) => !listed.has(taskId)).map((root) => headOf(root, now)),
    // All of the owner.
    tags: await listTags(db, owner),
    next_cursor,
    // Without the filter; `found` are the matches of a text.
    ...withTotal(counts),
    found: matches && withTotal(matches),
  };
}

/** With the `after` for `/api/live`, so that no entry is missed or sent twice. */
export async function timelineOf(deps: OperationDeps, run: Run) {
  const { entries, lastSeq } = await readTimeline(await deps.database(), run);
  return { entries: entries.map(timelineEntry), last_seq: lastSeq };
}

const withTotal = (listed: ListCounts) => ({
  ...listed,
  total: Object.values(listed.counts).reduce((sum, count) => sum + count, 0),
});

/** The runs that a run continues, and those that continue it, in the order in which they were asked. */
export async function conversationOf(deps: OperationDeps, run: Run, requestedId: string) {
  const { owner } = run;
  const db = await deps.database();
  const hasReport = async ({ status, taskId }: Run): Promise<boolean> =>
    isFinished(status) && (await reportPresence(db, taskId)) !== undefined;
  const turnOf = async (turn: Run) => ({ ...headOf(turn, deps.clock.now()), has_report: await hasReport(turn) });
  const later = await Promise.all((await laterTurns(db, run)).map(turnOf));
  const isReadable = await hasReport(run);
  // The next question continues the last answer.
  const last = later.findLast(({ has_report }) => has_report)?.task_id ?? (isReadable ? run.taskId : undefined);
  /** The likely cost, and what the user must confirm. */
  const offerOf = async (taskId: string, what: "question" | "table") => {
    const { likelyUsd, question } = await followupTerms(deps, { owner, taskId }, what);
    return { likely_usd: likelyUsd, question: consentQuestion(question) };
  };
  return {
    earlier: await Promise.all((await earlierTurns(db, run)).map(turnOf)),
    later,
    next: last === undefined ? undefined : { task_id: last, ...(await offerOf(last, "question")) },
    // Under the id that the page asks with, which may stand for a later run: a yes names the run.
    table: isReadable && !isTableRun(run) ? await offerOf(requestedId, "table") : undefined,
  };
}

export async function newestPlanOf(deps: OperationDeps, call: Call, run: Run) {
  const turns = await plansOf(await deps.database(), run.taskId);
  const newest = turns.at(-1);
  if (newest === undefined) throw withoutPlan();
  const decision = { task_id: run.taskId, plan_turn: newest.turn };
  const question = await questionFor(resumeResearch, deps, { input: { ...decision, approve: true }, call });
  const editQuestion = await questionFor(resumeResearch, deps, {
    input: { ...decision, plan_edit: newest.text },
    call,
  });
  const { estimated_cost } = await planAnswer(deps, call, { run });
  const isWaiting = run.status === "awaiting_approval";
  return {
    task_id: run.taskId,
    // Sent with the decision, so that no other plan is approved or changed than the one that is shown.
    turn: newest.turn,
    text: cleanText(newest.text),
    changes: turns.flatMap(({ edit }) => (edit === undefined ? [] : [cleanText(edit)])),
    // While it waits for approval: the likely cost of the research, and what the user must confirm before its start.
    estimated_cost,
    expires_at: isWaiting && run.deadlineAt !== undefined ? isoTime(run.deadlineAt) : undefined,
    question: consentQuestion(question),
    // A change of the plan is a paid request, too.
    edit_question: consentQuestion(editQuestion),
  };
}

const withoutPlan = (): AppError =>
  new AppError({ code: "INVALID_INPUT", message: "This run has no plan.", details: { status: 404 } });
