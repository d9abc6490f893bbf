/** Planning turns that fail, on a real database: what becomes of the plan, and what is charged. */

import { describe, expect, test } from "vitest";
import { clock, request, WORKING } from "../../../test/kit/store/runner.ts";
import { AppError } from "../../errors.ts";
import type { PollResult, StartOutcome } from "../../gemini/research-agent.ts";
import type { ResearchDeps } from "../deps.ts";
import { findResult } from "../result-store.ts";
import { markUnknownStarts } from "../recovery/unsettled-starts.ts";
import { resumeAgentRun } from "../start/resume.ts";
import { currentOf } from "../conversation-store.ts";
import { newestPlan } from "./plan-store.ts";
import { decideOnPlan } from "./decide.ts";
import { ACCEPT, stage, planned, decisionOn, decide, usdOf } from "../../../test/kit/store/planning.ts";

const REFUSED: StartOutcome = { kind: "refused", error: new AppError({ code: "GEMINI_UNAVAILABLE", message: "No." }) };
const CANCELLED: StartOutcome = {
  kind: "withheld",
  error: new AppError({ code: "CANCELLED", message: "The call was cancelled." }),
};
const MISSING: StartOutcome = { ...REFUSED, status: 404 };
const DAY_MS = 86_400_000;
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
    const { db, research, poll, taskId, run } = await stage(context, [ACCEPT, MISSING, MISSING]);
    await poll();
    // Of a fresh plan a 404 says nothing.
    await decide(research, taskId);
    expect(await run()).toMatchObject({ status: "awaiting_approval", error: { code: "GEMINI_UNAVAILABLE" } });
    await db.updateTable("research_attempts").set({ created_at: 1, sent_at: 1 }).execute();
    await decide(research, taskId);
    expect(await run()).toMatchObject({ status: "failed", error: { code: "PLAN_EXPIRED" }, cost: { usd: 1 } });
    expect((await newestPlan(db, taskId))?.text).toBe("1. Ask fishermen");
    await expect(decide(research, taskId)).rejects.toMatchObject({ code: "PLAN_EXPIRED" });
  });

  test("because it was cancelled unsent does not make a plan without a known price free (V2, P6)", async (context) => {
    const { db, research, poll, taskId, run } = await stage(context, [ACCEPT, CANCELLED]);
    await poll();
    await db.updateTable("research_tasks").set({ usage_final: 0 }).execute();
    await db.updateTable("ledger").set({ cost_micros: null }).execute();
    await decide(research, taskId);
    expect(await run()).toMatchObject({ status: "cancelled", cost: { usd: undefined }, usageFinal: false });
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
      expect(await run()).toMatchObject({ status: "awaiting_approval", interactionId: "v1_1", taskId });
      expect((await run()).error?.message).toContain("did not return a changed plan");
    };
    await change("Ask divers", [answering({ kind: "missing" }, DAY_MS)]);
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
    expect((await newestPlan(db, taskId))?.text).toBe("1. Ask fishermen");
  });

  test("that Google finishes after all is a plan of its own, because it is paid for (V2)", async (context) => {
    const { db, research, polls, poll, taskId, run } = await stage(context);
    await poll();
    await decide(research, taskId, "Ask divers");
    const { taskId: changed } = await run();
    polls.set("v1_2", { status: "unknown", rawStatus: "odd", report: "1. Ask half" });
    const later = { ...research, clock: { ...clock, now: () => clock.now() + 3 * 60_000, sleep: async () => {} } };
    for (const deps of [research, later]) await poll(deps);
    expect(await run()).toMatchObject({ status: "awaiting_approval", interactionId: "v1_1" });
    polls.set("v1_2", planned("1. Ask divers"));
    await poll();
    const found = await currentOf(db, request.owner, changed);
    expect(found).toMatchObject({ status: "awaiting_approval", interactionId: "v1_2", parentTaskId: taskId });
    expect((await newestPlan(db, changed))?.text).toBe("1. Ask divers");
    expect(await run()).toMatchObject({ status: "awaiting_approval", interactionId: "v1_1" });
  });

  test("at Google, after it was sent again, leaves the change whose start is unknown (V2, Q1)", async (context) => {
    const { research, polls, poll, taskId, run } = await stage(context, [ACCEPT, UNKNOWN, ACCEPT]);
    await poll();
    await decide(research, taskId, "Ask divers");
    const { taskId: newest } = await run();
    const again = { owner: request.owner, taskId, interactionId: undefined, acceptDoubleCharge: true, newest };
    const resumed = await resumeAgentRun(research, again);
    if (resumed.kind === "restarted") await resumed.sending;
    polls.set("v1_3", { ...planned(""), status: "failed", rawStatus: "failed" });
    await poll();
    expect(await run()).toMatchObject({ status: "start_unknown", taskId: newest });
    expect((await run()).error?.message).toBe(
      "Google did not return a changed plan. It is still unknown whether Google accepted the earlier start.",
    );
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
    const { research, polls, poll, taskId, run, sent } = await stage(context, [ACCEPT, UNKNOWN]);
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
    expect((await run()).part).toBe("research");
  });

  test("and is sent again on the user's decision is a run in its place (V2)", async (context) => {
    const outcomes = [ACCEPT, UNKNOWN, ACCEPT, REFUSED] as const;
    const { research, polls, poll, taskId, run, sent } = await stage(context, [...outcomes]);
    await poll();
    await decide(research, taskId, "Ask divers");
    const { taskId: newest } = await run();
    const again = { owner: request.owner, taskId, interactionId: undefined, acceptDoubleCharge: true, newest };
    const resumed = await resumeAgentRun(research, again);
    if (resumed.kind === "restarted") await resumed.sending;
    polls.set("v1_3", planned("1. Ask divers"));
    await poll();
    expect(sent[2]).toEqual(sent[1]);
    expect(await run()).toMatchObject({ status: "awaiting_approval", part: "plan" });
    await decide(research, taskId);
    expect((await run()).status).toBe("awaiting_approval");
  });

  test("because its process died becomes unknown, and the plan is kept (V2)", async (context) => {
    const { db, research, poll, taskId, run } = await stage(context);
    await poll();
    const dying: ResearchDeps = { ...research, agent: { ...research.agent, start: () => new Promise(() => {}) } };
    await decideOnPlan(dying, decisionOn(taskId, undefined, taskId));
    await db.updateTable("research_tasks").set({ lease_owner: "dead", lease_until: 1 }).execute();
    await markUnknownStarts(research);
    expect(await run()).toMatchObject({ status: "start_unknown", part: "research" });
    expect((await newestPlan(db, taskId))?.text).toBe("1. Ask fishermen");
  });
});
