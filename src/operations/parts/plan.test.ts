/** Decisions on plans, and what is said about a plan, by the operations on a real database. */

import { expect, type TestContext, test } from "vitest";
import { openApp } from "../../../test/kit/store/operation-deps.ts";
import { clock, FINISHED, openRunner, request, WORKING } from "../../../test/kit/store/runner.ts";
import type { Estimate } from "../../costs/estimate.ts";
import type { Interaction } from "../../gemini/research-agent.ts";
import { cancelRun } from "../../runs/cancel/cancel.ts";
import { pollRun } from "../../runs/poll/poll.ts";
import type { Run } from "../../runs/run.ts";
import { currentOf } from "../../runs/conversation-store.ts";
import { polledRuns } from "../../../test/kit/store/polled.ts";
import { startResearch } from "../../runs/start/start.ts";
import { checkResearchStatus } from "../check-research-status.ts";
import { askFollowup } from "../followup/ask-followup.ts";
import { getResearchResults } from "../get-research-results.ts";
import type { Call, Operation, OperationDeps } from "../operation.ts";
import { perform } from "../perform.ts";
import { readLive } from "../view/read-view.ts";
import { adviceWithoutReport } from "./after-failure.ts";
import { resumeResearch } from "../resume-research.ts";

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is read of it
const CHEAP = { usd: { min: 0.1, likely: 0.1, max: 0.2 }, agent: "an-agent" } as Estimate;

/** A run whose first plan waits for approval; `answers` are what Google returns for its interactions, in order. */
async function stage(context: TestContext, answers: Partial<Interaction>[] = []) {
  const { store, deps: researchDeps } = await openRunner(context);
  const { db } = store;
  let sent = 0;
  const hooks = { onSent: async (): Promise<void> => {} };
  const research = researchDeps({
    start: async ({ checkBeforeSending }) => {
      const refusal = await checkBeforeSending();
      if (refusal !== undefined) return { kind: "withheld", error: refusal };
      sent += 1;
      await hooks.onSent();
      return { kind: "accepted", interactionId: `v1_${sent}` };
    },
    poll: async (id) => ({
      kind: "found",
      interaction: { ...FINISHED, report: `Plan ${id}`, ...answers[Number(id.slice(3)) - 1], id },
    }),
  });
  const poll = async (): Promise<void> => {
    const [run] = await polledRuns(db);
    if (run !== undefined) await pollRun(research, run);
  };
  const started = await startResearch(research, { ...request, variant: { collaborativePlanning: true } });
  if (started.kind === "started") await started.sending;
  const { taskId } = started;
  await poll();
  const runner = { start: () => {}, wake: () => {}, watch: () => () => {} };
  const app = openApp().deps;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that these operations ask for
  const deps = {
    ...app,
    // Each short wait for a change polls Google once, and no wait ends before the change.
    clock: {
      ...clock,
      monotonic: () => 0,
      sleep: async (ms: number, signal?: AbortSignal) => (ms > 5_000 ? clock.sleep(ms, signal) : poll()),
    },
    database: async () => db,
    findRun: (owner: string, id: string) => currentOf(db, owner, id),
    research: async () => ({ research, runner, obstacle: async () => undefined }),
    estimate: async () => CHEAP,
    estimatePlan: async () => CHEAP,
    agent: async () => research.agent,
    backupOf: () => undefined,
    settings: { ...app.settings, syncWindowMs: 20_000, confirmAboveUsd: 5 },
  } as unknown as OperationDeps;
  const call: Call = {
    owner: request.owner,
    client: undefined,
    from: "here",
    signal: new AbortController().signal,
    progress: () => {},
  };
  const act = async (operation: Operation, input: object = {}, more: Partial<Call & OperationDeps> = {}) =>
    (
      await perform(
        operation,
        { ...deps, ...more },
        { input: { task_id: taskId, ...input }, call: { ...call, ...more } },
      )
    ).structured;
  return { db, deps, act, hooks, taskId, poll, sent: () => sent, run: () => currentOf(db, request.owner, taskId) };
}

const CHANGED = { success: false, error: { message: expect.stringContaining("The plan was changed meanwhile") } };

test("the view of a run has its plan while that waits, and the status counts the time until then (J2)", async (context) => {
  const { deps, act, run } = await stage(context);
  const live = await readLive(deps, await run());
  expect(live).toMatchObject({ plan: "Plan v1_1", plan_turn: 1, waiting_since: expect.any(String) });
  const first = await act(checkResearchStatus);
  const anHourLater = { ...deps.clock, now: () => clock.now() + 3_600_000 };
  const status = await act(checkResearchStatus, {}, { clock: anHourLater });
  expect(status).toEqual({ ...first, cursor: expect.any(String) });
});

test("an approval is refused unless it is about the plan that was waiting and shown when it was made (V2)", async (context) => {
  const { act, deps, sent, run } = await stage(context);
  const changed = await act(resumeResearch, { plan_edit: "Ask divers" });
  expect(changed).toMatchObject({ plan: "Plan v1_2", plan_turn: 2 });
  const approve = { approve: true };
  expect(await act(resumeResearch, { ...approve, plan_turn: 1 })).toMatchObject(CHANGED);
  // The edit was still being written when the run was read.
  const writing: Run = { ...(await run()), status: "running_async" };
  expect(await act(resumeResearch, approve, { findRun: async () => writing })).toMatchObject(CHANGED);
  // Another client changes the plan between the reading of the plan and the approval.
  const estimatePlan: OperationDeps["estimatePlan"] = async () => {
    if (sent() === 2) await act(resumeResearch, { plan_edit: "Ask sailors" });
    return undefined;
  };
  expect(await act(resumeResearch, approve, { estimatePlan })).toMatchObject(CHANGED);
  expect(sent()).toBe(3);
  expect(await deps.findRun(request.owner, (await run()).taskId)).toMatchObject({ status: "awaiting_approval" });
  expect(await act(resumeResearch, { ...approve, plan_turn: 3 })).toMatchObject({ success: true });
  expect(sent()).toBe(4);
  // The research of the third plan is in progress, which is no answer to the approval of another one.
  expect(await act(resumeResearch, { ...approve, plan_turn: 1 })).toMatchObject(CHANGED);
  expect(await act(resumeResearch, { ...approve, plan_turn: 3 })).toMatchObject({
    message: expect.stringContaining("approved before"),
  });
  expect(sent()).toBe(4);
});

test("a yes about the newest plan does not replace the plan that the decision names (V2, T28)", async (context) => {
  const { act, sent, taskId } = await stage(context);
  await act(resumeResearch, { plan_edit: "Ask divers" });
  const agreed = { operation: "resume_research", input: "", run: taskId, plan_turn: 2 };
  expect(await act(resumeResearch, { approve: true, plan_turn: 1 }, { agreed })).toMatchObject(CHANGED);
  expect(sent()).toBe(2);
});

test("a changed plan that the call returns needs no notification (V2)", async (context) => {
  const { db, act } = await stage(context);
  await db.deleteFrom("notification_outbox").execute();
  expect(await act(resumeResearch, { plan_edit: "Ask divers" })).toMatchObject({ status: "awaiting_approval" });
  expect(await db.selectFrom("notification_outbox").selectAll().execute()).toEqual([]);
});

test("what is said about a plan is true in every state of its run (V2)", async (context) => {
  const failing = [{}, { ...WORKING, status: "failed" as const, rawStatus: "failed" }];
  const failed = await stage(context, failing);
  expect(await failed.act(askFollowup, { question: "How deep is the other lake?" })).toMatchObject({
    error: { message: expect.stringContaining("plan waits for approval") },
  });
  await failed.act(resumeResearch, { approve: true });
  await failed.poll();
  expect(await failed.act(checkResearchStatus)).toMatchObject({ status: "failed", plan: "Plan v1_1" });
  expect(await failed.act(getResearchResults)).toMatchObject({
    error: { code: "RESEARCH_FAILED", suggestion: expect.stringContaining("Its status has its plan") },
  });
  const cancelled = await stage(context);
  const { db, taskId } = cancelled;
  cancelled.hooks.onSent = async () => {
    const deps = { db, clock, agent: undefined, pollNow: async () => {} };
    await cancelRun(deps, { owner: request.owner, taskId, keepPartial: true });
  };
  const { error } = (await cancelled.act(resumeResearch, { approve: true })) as { error?: { suggestion?: string } };
  expect(error).toMatchObject({ code: "CANCELLED" });
  expect(error?.suggestion).not.toContain("still waits for approval");
  const unapproved = await stage(context);
  const cancelling = { db: unapproved.db, clock, agent: undefined, pollNow: async () => {} };
  await cancelRun(cancelling, { owner: request.owner, taskId: unapproved.taskId, keepPartial: true });
  const { plan, next_step } = (await unapproved.act(getResearchResults)) as Record<string, unknown>;
  expect(plan).toBe("Plan v1_1");
  expect(next_step).not.toContain("resume_research");
});

test("an approval that was cancelled unsent leaves the plan to pay for, and says so (V2, P6)", async (context) => {
  const { run } = await stage(context);
  const cancelled: Run = { ...(await run()), status: "cancelled", cancelConfirmed: true, interactionId: undefined };
  expect(adviceWithoutReport({ ...cancelled, part: "research" }).suggestion).toBe("Only its plan was charged.");
  expect(adviceWithoutReport(cancelled).suggestion).toBe("Nothing was charged.");
});
