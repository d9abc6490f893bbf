/** Polls that return an unknown status, an empty response or less text than the previous poll. */

import { describe, expect, test } from "vitest";
import type { Interaction, PollResult } from "../../gemini/research-agent.ts";
import { clock, FINISHED, openRunner, request, type Stage, WORKING } from "../../../test/kit/store/runner.ts";
import { AppError, type FailureReason } from "../../errors.ts";
import { cancelHere, requestCancel } from "../cancel/cancel-store.ts";
import { polledRun, polledRuns, settleOutcome } from "../../../test/kit/store/polled.ts";
import { pollRun } from "./poll.ts";
import { findResult, savePartial } from "../result-store.ts";
import type { RunResult } from "../run.ts";
import { currentOf } from "../conversation-store.ts";
import { startResearch } from "../start/start.ts";

const MINUTE = 60_000;

interface Followed {
  taskId: string;
  /** Polls once with this response, regardless of when the next poll is due. */
  poll(answer: Interaction | PollResult): Promise<void>;
  run(): ReturnType<typeof currentOf>;
  result(): Promise<RunResult | undefined>;
  /** Simulates that the same response has been returned for this long. */
  age(ms: number): Promise<void>;
}

async function followed(stage: Stage): Promise<Followed> {
  const { taskId, ...started } = await startResearch(stage.deps(), { ...request, forceNew: true });
  if (started.kind === "started") await started.sending;
  const { db } = stage.store;
  return {
    taskId,
    poll: async (answer) => {
      const result: PollResult = "kind" in answer ? answer : { kind: "found", interaction: answer };
      for (const run of await polledRuns(db)) {
        await settleOutcome(db, run, await pollRun(stage.deps({ poll: async () => result }), run));
      }
    },
    run: () => currentOf(db, request.owner, taskId),
    result: () => findResult(db, taskId),
    age: async (ms) => {
      await db
        .updateTable("research_tasks")
        .set((set) => ({ odd_answer_since: set("odd_answer_since", "-", ms) }))
        .execute();
    },
  };
}

const working = (more: Partial<Interaction> = {}): Interaction => ({ ...WORKING, usage: undefined, ...more });
const ended = (rawStatus: Interaction["rawStatus"], more: Partial<Interaction> = {}): Interaction => ({
  ...FINISHED,
  status: rawStatus === "incomplete" ? "ended_early" : rawStatus === "failed" ? "failed" : "unknown",
  rawStatus,
  report: "",
  ...more,
});

describe("the current action", () => {
  test("stays the last known one while polls show nothing new (J2)", async (context) => {
    const { poll, run } = await followed(await openRunner(context));
    await poll(working());
    expect((await run()).currentAction).toBeUndefined();
    await poll(working({ thoughts: ["**Reading**\n\nTwo pages differ."] }));
    const known = (await run()).currentAction;
    expect(known).toContain("Reading");
    await poll(working());
    expect((await run()).currentAction).toBe(known);
    await poll({ kind: "forbidden" });
    expect(await run()).toMatchObject({ currentAction: known, obstacle: { kind: "forbidden" } });
    await poll(working());
    expect(await run()).toMatchObject({ currentAction: known, obstacle: undefined });
  });
});

test("each obstacle is stored, and cleared by the next answer (P4)", async (context) => {
  const { poll, run } = await followed(await openRunner(context));
  const failedBy = (reason: FailureReason): PollResult => ({
    kind: "unreachable",
    error: new AppError({ code: "GEMINI_UNAVAILABLE", message: "It failed.", reason }),
  });
  const polls: [string, PollResult][] = [
    ["unreachable", failedBy("network")],
    ["failing", failedBy("overloaded")],
    ["unreadable", failedBy("not_google")],
    ["billing", failedBy("billing")],
    ["location", failedBy("location")],
    ["credentials", failedBy("credentials")],
    ["rejected", failedBy("input")],
    ["missing", { kind: "missing" }],
    ["forbidden", { kind: "forbidden" }],
    ["too_long", { kind: "too_long" }],
  ];
  for (const [kind, polled] of polls) {
    await poll(polled);
    expect((await run()).obstacle).toEqual({ kind });
    await poll(working());
    expect((await run()).obstacle).toBeUndefined();
  }
});

describe("a status of an unknown name", () => {
  test("is polled as long as anything changes, and ends the run when nothing changes (S4)", async (context) => {
    const { poll, run, age } = await followed(await openRunner(context));
    await poll(ended("hibernating", { usage: undefined }));
    await age(29 * MINUTE);
    await poll(ended("hibernating", { usage: undefined }));
    await poll(ended("hibernating", { usage: undefined, thoughts: ["More"] }));
    await age(29 * MINUTE);
    await poll(ended("hibernating", { usage: undefined, thoughts: ["More"] }));
    expect((await run()).status).toBe("running_async");
    await age(2 * MINUTE);
    await poll(ended("hibernating", { usage: undefined, thoughts: ["More"] }));
    expect(await run()).toMatchObject({ status: "failed", error: { code: "RESEARCH_FAILED" } });
    expect((await run()).error?.message).toContain("unknown status");
  });

  test("with a text ends the run soon, keeps the text, and a later report is still recorded (S4)", async (context) => {
    const { poll, run, age, result } = await followed(await openRunner(context));
    await poll(ended("succeeded", { report: "# Text" }));
    await age(3 * MINUTE);
    await poll(ended("succeeded", { report: "# Text" }));
    expect((await run()).status).toBe("failed");
    expect(await result()).toMatchObject({ report: "# Text", partial: true });
    await poll({ ...FINISHED, report: "# The whole report" });
    expect((await run()).status).toBe("completed");
    expect(await result()).toMatchObject({ report: "# The whole report", partial: false });
  });

  test("that was temporary leaves no trace (S4)", async (context) => {
    const { poll, run, age } = await followed(await openRunner(context));
    await poll(ended("hibernating"));
    await age(60 * MINUTE);
    await poll(working());
    await poll(ended("hibernating"));
    expect((await run()).status).toBe("running_async");
  });
});

test("a run whose polls are rejected permanently ends, one whose polls are forbidden does not (S4)", async (context) => {
  const { poll, run, age } = await followed(await openRunner(context));
  await poll({ kind: "forbidden" });
  await poll({ kind: "rejected" });
  expect(await run()).toMatchObject({
    status: "running_async",
    obstacle: { kind: "rejected" },
  });
  await age(11 * MINUTE);
  await poll({ kind: "rejected" });
  expect(await run()).toMatchObject({ status: "failed", error: { code: "RESEARCH_FAILED" } });
  expect((await run()).error?.message).toContain("rejects every request");
});

test("a run that ended because its polls were rejected is polled on, and gets its report (S4)", async (context) => {
  const { poll, run, age, result } = await followed(await openRunner(context));
  for (const _ of [1, 2, 3]) {
    await poll({ kind: "rejected" });
    await age(11 * MINUTE);
  }
  expect((await run()).status).toBe("failed");
  await poll(FINISHED);
  expect((await run()).status).toBe("completed");
  expect(await result()).toMatchObject({ partial: false });
});

test.each<PollResult>([
  { kind: "forbidden" },
  { kind: "unreachable", error: new AppError({ code: "GEMINI_UNAVAILABLE", message: "No answer." }) },
  { kind: "rate_limited", retryAfterMs: undefined },
  { kind: "too_long" },
])("rejections with another answer between them do not end a run: $kind (S4)", async (between) => {
  await using stack = new AsyncDisposableStack();
  const { poll, run, age } = await followed(await openRunner({ onTestFinished: (close) => stack.defer(close) }));
  await poll({ kind: "rejected" });
  await age(11 * MINUTE);
  await poll(between);
  await poll({ kind: "rejected" });
  expect((await run()).status).toBe("running_async");
});

test("a run of another key or address waits when its polls are rejected (P3)", async (context) => {
  const stage = await openRunner(context);
  const { poll, run, age } = await followed(stage);
  await stage.store.db.updateTable("research_attempts").set({ base_url: "https://other.test" }).execute();
  for (const _ of [1, 2]) {
    await poll({ kind: "rejected" });
    await age(11 * MINUTE);
  }
  expect(await run()).toMatchObject({
    status: "running_async",
    obstacle: { kind: "other_address", setting: "https://other.test" },
  });
});

describe("paid text", () => {
  const LONG = "# A long draft that was paid for";

  test.each<[string, Interaction]>([
    ["fails", ended("failed")],
    ["fails with less", ended("failed", { report: "# Less" })],
    ["ends early", ended("incomplete")],
    ["completes without text", { ...FINISHED, report: "" }],
    ["is cancelled", { ...FINISHED, status: "cancelled", rawStatus: "cancelled", report: "" }],
  ])("is kept when the run then %s (S1)", async (_, end) => {
    await using stack = new AsyncDisposableStack();
    const stage = await openRunner({ onTestFinished: (close) => stack.defer(close) });
    const { poll, run, result } = await followed(stage);
    await poll(working({ report: LONG }));
    await poll(end);
    expect((await run()).status).toBe(end.status === "cancelled" ? "cancelled" : "failed");
    expect(await result()).toMatchObject({ report: LONG, partial: true });
  });

  test("is not replaced by a shorter one while the run works (S1)", async (context) => {
    const { poll, result } = await followed(await openRunner(context));
    await poll(working({ report: LONG }));
    await poll(working({ report: "# Less" }));
    expect((await result())?.report).toBe(LONG);
    await poll(working({ report: `${LONG}, and more` }));
    expect((await result())?.report).toBe(`${LONG}, and more`);
  });

  const stopped = (stage: Stage, status: "failed" | "cancelled", keep_partial: 0 | 1 = 1) =>
    stage.store.db
      .updateTable("research_tasks")
      .set({ status, keep_partial, completed_at: 1 })
      .set(status === "cancelled" ? { cancel_requested_at: 1, cancel_confirmed: 0 } : {})
      .execute();

  test.each(["failed", "cancelled"] as const)("of a %s run that Google still works on is kept (S1)", async (status) => {
    await using stack = new AsyncDisposableStack();
    const stage = await openRunner({ onTestFinished: (close) => stack.defer(close) });
    const { poll, run, result } = await followed(stage);
    await poll(working({ report: "# Less" }));
    await stopped(stage, status);
    await poll(working({ report: LONG }));
    expect(await result()).toMatchObject({ report: LONG, partial: true });
    await poll(working({ report: "# Less" }));
    expect((await result())?.report).toBe(LONG);
    expect((await run()).status).toBe(status);
    const found = await stage.store.db.selectFrom("research_search").select("report").execute();
    expect(found).toEqual([{ report: LONG }]);
  });

  test("is not written by a poll that began before a cancel that keeps nothing (L1)", async (context) => {
    const stage = await openRunner(context);
    const { poll, result, taskId } = await followed(stage);
    await poll(working({ report: "# Less" }));
    const { db } = stage.store;
    await db.updateTable("research_tasks").set({ next_poll_at: 0 }).execute();
    const now = clock.now();
    const claimed = await polledRun(db);
    const pollDuringCancel = async (): Promise<PollResult> => {
      await requestCancel(db, { taskId, keepPartial: false, now });
      await cancelHere(db, { taskId, confirmed: false, keepPartial: false, now });
      return { kind: "found", interaction: working({ report: LONG }) };
    };
    await pollRun(stage.deps({ poll: pollDuringCancel }), claimed);
    expect(await result()).toBeUndefined();
    await db.updateTable("research_tasks").set({ lease_until: null }).execute();
    await poll(working({ report: LONG }));
    expect(await result()).toBeUndefined();
  });

  test("is not written by a poll of another interaction (S1)", async (context) => {
    const stage = await openRunner(context);
    const { taskId, result } = await followed(stage);
    const late = { report: LONG, sources: [], metadata: {}, partial: true };
    await savePartial(stage.store.db, { taskId, interactionId: "v1_another" }, { result: late, now: 1 });
    expect(await result()).toBeUndefined();
  });

  test("that is longer than the finished report stays readable beside it (S1)", async (context) => {
    const { poll, result } = await followed(await openRunner(context));
    await poll(working({ report: LONG }));
    await poll({ ...FINISHED, report: "# Done", earlierOutputs: ["A plan."] });
    expect(await result()).toMatchObject({
      report: "# Done",
      partial: false,
      metadata: { earlier_outputs: ["A plan.", LONG] },
    });
  });
});
