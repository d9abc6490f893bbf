/** Planning turns on a real database: what is sent, and what each turn costs. */

import { MIN_RETENTION_MS } from "../poll/ask.ts";
import { describe, expect, test } from "vitest";
import { clock, request } from "../../../test/kit/store/runner.ts";
import { rowOf } from "../../../test/kit/store/store-rows.ts";
import { cancelRun } from "../cancel/cancel.ts";
import { cancelHere, requestCancel } from "../cancel/cancel-store.ts";
import { pollRun } from "../poll/poll.ts";
import { findResult } from "../result-store.ts";
import { finishedAgentRuns } from "../run-store.ts";
import { resumeAgentRun } from "../start/resume.ts";
import { decideOnPlan, endExpiredPlans } from "./decide.ts";
import { newestPlan, plansOf } from "./plan-store.ts";
import { stage, planned, decisionOn, decide, usdOf } from "../../../test/kit/store/planning.ts";

describe("a plan", () => {
  test("is changed and approved by runs of their own, with explicit flags, and each is counted (V2)", async (context) => {
    const { db, research, sent, polls, poll, taskId, run } = await stage(context);
    await poll();
    expect(await run()).toMatchObject({ status: "awaiting_approval", progress: 0, usageFinal: true });
    expect(await rowOf(db, taskId)).toMatchObject({ next_poll_at: null, status: "completed" });
    expect(await decide(research, taskId, "Ask divers, too")).toBe("begun");
    polls.set("v1_2", planned("1. Ask fishermen\n2. Ask divers"));
    await poll();
    expect(await usdOf(db, taskId)).toBe(2);
    expect(await decide(research, taskId)).toBe("begun");
    polls.set("v1_3", { report: "Half", status: "working" });
    await poll();
    polls.set("v1_3", planned("# The whole report"));
    await poll();
    expect(await run()).toMatchObject({ status: "completed", cost: { usd: 3 }, tokens: { input: 30, output: 15 } });
    const current = await run();
    expect((await findResult(db, current.taskId))?.report).toBe("# The whole report");
    expect(await plansOf(db, current.taskId)).toMatchObject([
      { turn: 1, text: "1. Ask fishermen", edit: undefined },
      { turn: 2, text: "1. Ask fishermen\n2. Ask divers", edit: "Ask divers, too" },
    ]);
    expect(sent).toEqual([
      { collaborativePlanning: true },
      { previousInteractionId: "v1_1", input: "Ask divers, too", collaborativePlanning: true },
      { previousInteractionId: "v1_2", input: "Go ahead with this plan.", collaborativePlanning: false },
    ]);
    // What the estimates of later runs are made from: the research alone, from its approval.
    const [observed] = await finishedAgentRuns(db, request.owner, 1);
    const { created_at: createdAt, completed_at: completedAt } = await rowOf(db, current.taskId);
    expect(observed).toMatchObject({ costUsd: 1, durationMs: (completedAt ?? 0) - createdAt });
  });

  test("approved by twelve calls at once is sent once, and later approvals join (V2)", async (context) => {
    const { research, sent, poll, taskId } = await stage(context);
    await poll();
    const kinds = await Promise.all(Array.from({ length: 12 }, () => decide(research, taskId)));
    expect(kinds.toSorted()).toEqual(["begun", ...Array(11).fill("joined")]);
    expect(await decide(research, taskId)).toBe("joined");
    expect(sent).toHaveLength(2);
    await expect(decide(research, taskId, "Too late")).rejects.toThrow("no longer waits");
  });

  test("that is still being written cannot be approved, and the same change joins (V2)", async (context) => {
    const { research, sent, poll, taskId } = await stage(context);
    await expect(decide(research, taskId)).rejects.toThrow("still writing");
    await poll();
    await decide(research, taskId, "Ask divers");
    expect(await decide(research, taskId, "Ask divers")).toBe("joined");
    await expect(decide(research, taskId, "Ask nobody")).rejects.toThrow("still writing");
    expect(sent).toHaveLength(2);
  });

  test("that was changed after it was read, or was not there yet, is not approved or changed (V2)", async (context) => {
    const { research, sent, polls, poll, taskId, run } = await stage(context);
    await poll();
    await decide(research, taskId, "Ask divers");
    polls.set("v1_2", planned("1. Ask divers"));
    await poll();
    for (const plan of [undefined, taskId]) {
      for (const edit of [undefined, "Ask sailors"]) {
        const decided = decideOnPlan(research, decisionOn(taskId, edit, plan));
        await expect(decided).rejects.toThrow("The plan was changed meanwhile. Nothing was sent");
      }
    }
    expect(sent).toHaveLength(2);
    expect((await run()).status).toBe("awaiting_approval");
    const { taskId: changed } = await run();
    expect((await decideOnPlan(research, decisionOn(taskId, undefined, changed))).kind).toBe("begun");
  });

  test("is not ended by a late poll of it after its approval (V2, P2)", async (context) => {
    const { research, claim, taskId, run } = await stage(context);
    const late = await claim();
    await pollRun(research, late);
    await decide(research, taskId);
    await pollRun(research, late);
    expect(await run()).toMatchObject({ status: "running_async", interactionId: "v1_2" });
  });

  test("is shown before its usage is known, which is counted when it arrives (V2)", async (context) => {
    const { research, polls, poll, taskId, run } = await stage(context);
    polls.set("v1_1", { ...planned("1. Ask"), usage: undefined });
    await poll();
    expect(await run()).toMatchObject({ status: "awaiting_approval", cost: { usd: undefined } });
    const pollPlanAt = (next_poll_at: number | null) =>
      research.db.updateTable("research_tasks").set({ next_poll_at }).where("task_id", "=", taskId).execute();
    await pollPlanAt(null);
    await decide(research, taskId);
    polls.set("v1_2", planned("# Report"));
    await poll();
    expect(await run()).toMatchObject({ status: "completed", cost: { usd: 1, incomplete: true } });
    polls.set("v1_1", planned("1. Ask"));
    await pollPlanAt(1);
    await poll();
    expect(await run()).toMatchObject({ status: "completed", cost: { usd: 2, incomplete: false } });
  });

  test("that is cancelled while its answer is on its way is not offered for approval (V2, L1)", async (context) => {
    const { db, research, poll, taskId, run } = await stage(context);
    const { agent } = research;
    const pollDuringCancel: typeof agent.poll = async (...asked) => {
      const now = clock.now();
      await requestCancel(db, { taskId, keepPartial: true, now });
      await cancelHere(db, { taskId, confirmed: false, keepPartial: true, now });
      return agent.poll(...asked);
    };
    await poll({ ...research, agent: { ...agent, poll: pollDuringCancel } });
    expect(await run()).toMatchObject({ status: "cancelled", cancelConfirmed: false });
    await poll();
    expect(await run()).toMatchObject({ status: "cancelled", cancelConfirmed: true, cost: { usd: 1 } });
    expect((await findResult(db, taskId))?.report).toBe("1. Ask fishermen");
  });

  test("that arrives after a cancel is kept; a waiting one is cancelled at once, with its text if nothing is to be kept (V2, L1, L2)", async (context) => {
    const { db, research, poll, taskId, run } = await stage(context);
    await db.updateTable("research_tasks").set({ cancel_requested_at: 1 }).execute();
    await poll();
    expect(await run()).toMatchObject({ status: "cancelled", cancelConfirmed: true, cost: { usd: 1 } });
    expect((await newestPlan(db, taskId))?.text).toBe("1. Ask fishermen");
    const other = await stage(context);
    await other.poll();
    const deps = { db: other.db, clock, agent: undefined, pollNow: async () => {} };
    const cancelled = await cancelRun(deps, { owner: request.owner, taskId: other.taskId, keepPartial: false });
    expect(cancelled).toMatchObject({ status: "cancelled", cancelConfirmed: true, cost: { usd: 1 } });
    expect(await newestPlan(other.db, other.taskId)).toBeUndefined();
    await expect(decide(research, taskId)).rejects.toThrow("no longer waits");
  });
});

test("a plan that is not approved in time expires without a request, and returns if Google still has it (V2)", async (context) => {
  const { db, research, poll, taskId, run, sent } = await stage(context);
  await poll();
  const later = { ...research, clock: { ...clock, now: () => clock.now() + MIN_RETENTION_MS } };
  await endExpiredPlans(research);
  expect((await run()).status).toBe("awaiting_approval");
  await expect(decide(later, taskId)).rejects.toMatchObject({ code: "PLAN_EXPIRED" });
  expect(await run()).toMatchObject({ status: "failed", error: { code: "PLAN_EXPIRED" } });
  expect(sent).toHaveLength(1);
  const resume = { owner: request.owner, taskId, interactionId: undefined, acceptDoubleCharge: false };
  await resumeAgentRun(research, resume);
  await poll();
  expect(await run()).toMatchObject({ status: "awaiting_approval", cost: { usd: 1 }, error: undefined });
  expect((await newestPlan(db, taskId))?.text).toBe("1. Ask fishermen");
});
