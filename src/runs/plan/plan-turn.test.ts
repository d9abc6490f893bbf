/** Planning turns on a real database: what is sent, what each turn costs, and what becomes of a turn that fails. */

import { describe, expect, type TestContext, test } from "vitest";
import { clock, FINISHED, openRunner, request, WORKING } from "../../../test/kit/store/runner.ts";
import { rowOf } from "../../../test/kit/store/store-rows.ts";
import { AppError } from "../../errors.ts";
import type { Agent, Interaction, PollResult, RequestVariant, StartOutcome } from "../../gemini/research-agent.ts";
import type { Database } from "../../store/database.ts";
import { cancelRun } from "../cancel/cancel.ts";
import type { ResearchDeps } from "../deps.ts";
import { pollRun } from "../poll/poll.ts";
import type { PolledRun } from "../poll/polled-run.ts";
import { findResult } from "../result-store.ts";
import { findRun, finishedAgentRuns } from "../run-store.ts";
import { claimDueRuns, settlePoll } from "../scheduling/claim-store.ts";
import { markUnknownStarts } from "../recovery/unknown-starts.ts";
import { resumeAgentRun } from "../start/resume.ts";
import { startResearch } from "../start/start.ts";
import { endExpiredPlans } from "./expired-plans.ts";
import { newestPlan, planTurns } from "./plan-store.ts";
import { beginTurn, type TurnRequest } from "./plan-turn.ts";

const ACCEPT = Symbol("accept");

/** Google's side: interactions in the order in which they were accepted, each with what a poll of it returns. */
async function stage(context: TestContext, outcomes: (StartOutcome | typeof ACCEPT)[] = []) {
  const { store, deps } = await openRunner(context);
  const sent: (RequestVariant | undefined)[] = [];
  const polls = new Map<string, Partial<Interaction>>();
  const agent: Partial<Agent> = {
    start: async ({ variant, checkBeforeSending }) => {
      const refusal = await checkBeforeSending();
      if (refusal !== undefined) return { kind: "withheld", error: refusal };
      sent.push(variant);
      const outcome = outcomes[sent.length - 1] ?? ACCEPT;
      return outcome === ACCEPT ? { kind: "accepted", interactionId: `v1_${sent.length}` } : outcome;
    },
    poll: async (id) => ({ kind: "found", interaction: { ...WORKING, id, ...polls.get(id) } }),
  };
  const research = deps(agent);
  const { db, processId } = store;
  const claim = async (): Promise<PolledRun> => {
    const now = clock.now();
    const [run] = await claimDueRuns(db, { processId, limit: 1, now, nextPollAt: now });
    if (run === undefined) throw new Error("The run was not due.");
    return run;
  };
  const poll = async (deps = research): Promise<void> => {
    const run = await claim();
    const { recorded } = await pollRun(deps, run);
    if (recorded !== true) await settlePoll(db, run, { nextPollAt: clock.now() });
  };
  const started = await startResearch(research, { ...request, variant: { collaborativePlanning: true } });
  if (started.kind === "started") await started.sending;
  const { taskId } = started;
  polls.set("v1_1", planned("1. Ask fishermen"));
  return { db, research, sent, polls, claim, poll, taskId, run: () => findRun(db, request.owner, taskId) };
}

function planned(report: string): Partial<Interaction> {
  const { id: _id, ...ended } = FINISHED;
  return { ...ended, report };
}

const turnOf = (taskId: string, edit: string | undefined, planTurn?: number): TurnRequest => ({
  owner: request.owner,
  taskId,
  edit,
  planTurn,
  estimate: {},
  callerWaitsMs: 0,
  beforeStart: () => {},
  signal: new AbortController().signal,
});

/** Decides on the newest plan. */
async function decide(research: ResearchDeps, taskId: string, edit?: string): Promise<string> {
  const { turn: planTurn } = (await newestPlan(research.db, taskId)) ?? {};
  const turn = await beginTurn(research, turnOf(taskId, edit, planTurn));
  if (turn.kind === "begun") await turn.sending;
  return turn.kind;
}

const usdOf = async (db: Database, taskId: string): Promise<number | null> => (await rowOf(db, taskId)).cost_usd;

describe("a plan", () => {
  test("is changed and approved in one run, with explicit flags, and every turn is counted (V2)", async (context) => {
    const { db, research, sent, polls, poll, taskId, run } = await stage(context);
    await poll();
    expect(await run()).toMatchObject({ status: "awaiting_approval", progress: 0, usageFinal: true });
    expect(await rowOf(db, taskId)).toMatchObject({ next_poll_at: null, completed_at: null });
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
    expect((await findResult(db, taskId))?.report).toBe("# The whole report");
    expect(await planTurns(db, taskId)).toMatchObject([
      { turn: 1, text: "1. Ask fishermen", edit: undefined },
      { turn: 2, text: "1. Ask fishermen\n2. Ask divers", edit: "Ask divers, too" },
    ]);
    expect(sent).toEqual([
      { collaborativePlanning: true },
      { previousInteractionId: "v1_1", input: "Ask divers, too", collaborativePlanning: true },
      { previousInteractionId: "v1_2", input: "Go ahead with this plan.", collaborativePlanning: false },
    ]);
    // What the estimates of later researches are made from: the research alone, from its approval.
    const [observed] = await finishedAgentRuns(db, request.owner, 1);
    const { started_at: startedAt, completed_at: completedAt } = await rowOf(db, taskId);
    expect(observed).toMatchObject({ costUsd: 1, durationMs: (completedAt ?? 0) - (startedAt ?? 0) });
  });

  test("approved by several calls at once is sent once, and later approvals join (V2)", async (context) => {
    const { research, sent, poll, taskId } = await stage(context);
    await poll();
    const kinds = await Promise.all([1, 2, 3].map(() => decide(research, taskId)));
    expect(kinds.toSorted()).toEqual(["begun", "joined", "joined"]);
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
    for (const planTurn of [undefined, 1]) {
      for (const edit of [undefined, "Ask sailors"]) {
        const decided = beginTurn(research, turnOf(taskId, edit, planTurn));
        await expect(decided).rejects.toThrow("The plan was changed meanwhile. Nothing was sent");
      }
    }
    expect(sent).toHaveLength(2);
    expect((await run()).status).toBe("awaiting_approval");
    expect((await beginTurn(research, turnOf(taskId, undefined, 2))).kind).toBe("begun");
  });

  test("is not ended by a late poll of it after its approval (V2, P2)", async (context) => {
    const { research, claim, taskId, run } = await stage(context);
    const late = await claim();
    await pollRun(research, late);
    await decide(research, taskId);
    await pollRun(research, late);
    expect(await run()).toMatchObject({ status: "running_async", interactionId: "v1_2" });
  });

  test("waits until its usage is known, but not long (V2)", async (context) => {
    const { db, research, polls, poll, taskId, run } = await stage(context);
    polls.set("v1_1", { ...planned("1. Ask"), usage: undefined });
    await poll();
    expect((await run()).status).toBe("running_async");
    const later = { ...research, clock: { ...clock, now: () => clock.now() + 60_000 } };
    await poll(later);
    expect(await run()).toMatchObject({ status: "awaiting_approval", cost: { usd: undefined, incomplete: true } });
    await decide(research, taskId);
    polls.set("v1_2", planned("# Report"));
    await poll();
    expect(await rowOf(db, taskId)).toMatchObject({ status: "completed", cost_usd: 1, cost_incomplete: 1 });
  });

  test("that arrives after a cancel is kept; a waiting one is cancelled at once, with its text if nothing is to be kept (V2, L1, L2)", async (context) => {
    const { db, research, poll, taskId, run } = await stage(context);
    await db.updateTable("research_tasks").set({ cancel_requested_at: 1 }).execute();
    // The plan cannot be stored: then the end of the run is not stored either, and the next poll stores both.
    const stopped = () => {
      throw new Error("stopped");
    };
    const cost = { usd: 1, incomplete: false, estimated: false, toJSON: stopped };
    await expect(poll({ ...research, costOf: () => cost })).rejects.toThrow("stopped");
    expect((await run()).status).toBe("running_async");
    await db.updateTable("research_tasks").set({ lease_until: 1 }).execute();
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

const REFUSED: StartOutcome = { kind: "refused", error: new AppError({ code: "GEMINI_UNAVAILABLE", message: "No." }) };
const UNKNOWN: StartOutcome = { kind: "unknown", why: "The connection broke." };

describe("a turn that fails", () => {
  test("without a charge leaves the plan waiting, and can be tried again (V2)", async (context) => {
    const { db, research, poll, taskId, run, sent } = await stage(context, [ACCEPT, REFUSED]);
    await poll();
    const { deadlineAt } = await run();
    await decide(research, taskId);
    expect(await run()).toMatchObject({ status: "awaiting_approval", interactionId: "v1_1", deadlineAt });
    expect((await run()).error?.code).toBe("GEMINI_UNAVAILABLE");
    expect(await usdOf(db, taskId)).toBe(1);
    await decide(research, taskId);
    expect(await run()).toMatchObject({ status: "running_async", interactionId: "v1_3", error: undefined });
    expect(sent.map((variant) => variant?.collaborativePlanning)).toEqual([true, false, false]);
  });

  test("because Google has forgotten the plan ends the run, which keeps the plan (V2)", async (context) => {
    const { db, research, poll, taskId, run } = await stage(context, [ACCEPT, { ...REFUSED, status: 404 }]);
    await poll();
    await decide(research, taskId);
    expect(await run()).toMatchObject({ status: "failed", error: { code: "PLAN_EXPIRED" }, cost: { usd: 1 } });
    expect((await newestPlan(db, taskId))?.text).toBe("1. Ask fishermen");
    await expect(decide(research, taskId)).rejects.toMatchObject({ code: "PLAN_EXPIRED" });
  });

  test("at Google leaves the plan before it, and its cost is counted (V2)", async (context) => {
    const { db, research, polls, poll, taskId, run } = await stage(context);
    await poll();
    await decide(research, taskId, "Ask divers");
    polls.set("v1_2", { ...planned(""), status: "failed", rawStatus: "failed" });
    await poll();
    expect(await run()).toMatchObject({ status: "awaiting_approval", interactionId: "v1_1", cost: { usd: 2 } });
    await decide(research, taskId);
    polls.set("v1_3", planned("# Report"));
    await poll();
    expect(await usdOf(db, taskId)).toBe(3);
  });

  test("because Google lost or rejects it, or because of its deadline, leaves the plan before it, too (V2)", async (context) => {
    const { db, research, polls, poll, taskId, run } = await stage(context);
    await poll();
    const answering = (result: PollResult, laterMs = 0): ResearchDeps => ({
      ...research,
      agent: { ...research.agent, poll: async () => result },
      clock: { ...clock, now: () => clock.now() + laterMs, sleep: async () => {} },
    });
    const change = async (edit: string, deps: ResearchDeps[]): Promise<void> => {
      await decide(research, taskId, edit);
      for (const each of deps) await poll(each);
      expect(await run()).toMatchObject({ status: "awaiting_approval", interactionId: "v1_1", plan: { turn: 1 } });
      expect((await run()).error?.message).toContain("did not return a changed plan");
    };
    await change("Ask divers", [answering({ kind: "missing" })]);
    // The turn may have been charged.
    expect((await run()).cost).toMatchObject({ usd: 1, incomplete: true });
    const rejected: PollResult = { kind: "rejected" };
    await change("Ask sailors", [answering(rejected), answering(rejected, 11 * 60_000)]);
    await change("Ask priests", [answering({ kind: "found", interaction: WORKING }, request.maxWaitMs)]);
    polls.set("v1_5", { status: "unknown", rawStatus: "odd", report: "1. Ask half" });
    const odd = { ...WORKING, ...polls.get("v1_5") };
    await change(
      "Ask half",
      [0, 3 * 60_000].map((ms) => answering({ kind: "found", interaction: odd }, ms)),
    );
    expect((await run()).cost.usd).toBe(2);
    expect(await findResult(db, taskId)).toBeUndefined();
  });

  test("with a text leaves no report, whether it fails or is cancelled (V2)", async (context) => {
    for (const status of ["failed", "cancelled"] as const) {
      const { db, polls, poll, taskId, run } = await stage(context);
      polls.set("v1_1", { ...planned("1. Ask half"), status, rawStatus: status });
      await poll();
      expect((await run()).status).toBe(status);
      expect((await findResult(db, taskId))?.report ?? "").toBe("");
      await db.updateTable("research_tasks").set({ next_poll_at: 1 }).execute();
      await poll();
      expect((await findResult(db, taskId))?.report ?? "").toBe("");
    }
  });

  test("with an unknown outcome is never repeated, and its id can be adopted (V2, Q1)", async (context) => {
    const { db, research, polls, poll, taskId, run, sent } = await stage(context, [ACCEPT, UNKNOWN]);
    await poll();
    await decide(research, taskId);
    expect((await run()).status).toBe("start_unknown");
    await expect(decide(research, taskId)).rejects.toThrow("no longer waits");
    const resume = { owner: request.owner, taskId, interactionId: "v1_found", acceptDoubleCharge: false };
    await resumeAgentRun(research, resume);
    polls.set("v1_found", planned("# Report"));
    await poll();
    expect(await run()).toMatchObject({ status: "completed", cost: { usd: 2 } });
    expect(sent).toHaveLength(2);
    expect((await rowOf(db, taskId)).plan_json).toContain('"isPlanning":false');
  });

  test("and is sent again on the user's decision is the same turn; an unknown edit stays out of the next (V2)", async (context) => {
    const outcomes = [ACCEPT, UNKNOWN, ACCEPT, REFUSED] as const;
    const { research, polls, poll, taskId, run, sent } = await stage(context, [...outcomes]);
    await poll();
    await decide(research, taskId, "Ask divers");
    const again = { owner: request.owner, taskId, interactionId: undefined, acceptDoubleCharge: true };
    const resumed = await resumeAgentRun(research, again);
    if (resumed.kind === "restarted") await resumed.sending;
    polls.set("v1_3", planned("1. Ask divers"));
    await poll();
    expect(sent[2]).toEqual(sent[1]);
    expect(await run()).toMatchObject({ status: "awaiting_approval", plan: { turn: 2 } });
    await decide(research, taskId);
    expect((await run()).status).toBe("awaiting_approval");
  });

  test("because its process died becomes unknown, and the plan is kept (V2)", async (context) => {
    const { db, research, poll, taskId, run } = await stage(context);
    await poll();
    const dying: ResearchDeps = { ...research, agent: { ...research.agent, start: () => new Promise(() => {}) } };
    await beginTurn(dying, turnOf(taskId, undefined, 1));
    await db.updateTable("research_tasks").set({ lease_owner: "dead", lease_until: 1 }).execute();
    await markUnknownStarts(research);
    expect(await run()).toMatchObject({ status: "start_unknown", plan: { turn: 2, isPlanning: false } });
    expect((await newestPlan(db, taskId))?.text).toBe("1. Ask fishermen");
  });
});

test("a plan that is not approved in time expires without a request, and returns if Google still has it (V2)", async (context) => {
  const { db, research, poll, taskId, run, sent } = await stage(context);
  await poll();
  const later = { ...research, clock: { ...clock, now: () => clock.now() + research.planKeptMs } };
  await endExpiredPlans(research);
  expect((await run()).status).toBe("awaiting_approval");
  await expect(decide(later, taskId)).rejects.toMatchObject({ code: "PLAN_EXPIRED" });
  expect(await run()).toMatchObject({ status: "failed", error: { code: "PLAN_EXPIRED" } });
  expect(sent).toHaveLength(1);
  const look = { owner: request.owner, taskId, interactionId: undefined, acceptDoubleCharge: false };
  await resumeAgentRun(research, look);
  await poll();
  expect(await run()).toMatchObject({ status: "awaiting_approval", cost: { usd: 1 }, error: undefined });
  expect((await newestPlan(db, taskId))?.text).toBe("1. Ask fishermen");
});
