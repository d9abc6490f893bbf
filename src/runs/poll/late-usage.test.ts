import { once } from "node:events";
import { expect, test } from "vitest";
import { clock, FINISHED, openRunner, request, type Stage, WORKING } from "../../../test/kit/store/runner.ts";
import { insertRun, rowOf } from "../../../test/kit/store/store-rows.ts";
import { AppError } from "../../errors.ts";
import type { Interaction, PollResult } from "../../gemini/research-agent.ts";
import { polledRun, polledRuns, settleOutcome } from "../../../test/kit/store/polled.ts";
import { cancelHere, requestCancel } from "../cancel/cancel-store.ts";
import { isDeletable } from "../deletion/deletion-store.ts";
import { findResult } from "../result-store.ts";
import { countPolledRuns } from "../scheduling/polled-store.ts";
import { startResearch } from "../start/start.ts";
import { pollRun } from "./poll.ts";

test("a quick poll for late usage does not wait for a slow answer (P6)", async (context) => {
  const stage = await openRunner(context);
  const { db } = stage.store;
  const now = clock.now();
  await insertRun(db, {
    task_id: "a",
    status: "completed",
    interaction_id: "v1_a",
    next_poll_at: 0,
    completed_at: now,
  });
  const run = await polledRun(db);
  expect(run.status).toBe("completed");
  const poll = async (_id: string, signal: AbortSignal): Promise<PollResult> => {
    await once(signal, "abort");
    return { kind: "unreachable", error: new AppError({ code: "GEMINI_UNAVAILABLE", message: "aborted" }) };
  };
  expect(await pollRun(stage.deps({ poll }), run, "quick")).toEqual({ next: "slow" });
  const limited = stage.deps({ poll: async () => ({ kind: "rate_limited", retryAfterMs: 7_000 }) });
  expect(await pollRun(limited, run, "quick")).toMatchObject({ pauseMs: 7_000 });
});

const HOUR = 3_600_000;
const ENDS: readonly {
  name: string;
  answer: Interaction;
  before?: (stage: Stage, taskId: string) => Promise<unknown>;
}[] = [
  { name: "failed", answer: { ...FINISHED, status: "failed", rawStatus: "failed", report: "" } },
  {
    name: "cancelled",
    answer: { ...FINISHED, status: "cancelled", rawStatus: "cancelled", report: "" },
    before: ({ store: { db } }, taskId) => requestCancel(db, { taskId, keepPartial: true, now: clock.now() }),
  },
  {
    name: "timed-out",
    answer: WORKING,
    before: ({ store: { db } }) =>
      db
        .updateTable("research_tasks")
        .set({ deadline_at: clock.now() - 1 })
        .execute(),
  },
];

async function endWithoutUsage(stage: Stage, { answer, before }: (typeof ENDS)[number]) {
  const { db } = stage.store;
  const estimate = { usd: { min: 1, likely: 2, max: 3 } };
  const { taskId, ...started } = await startResearch(stage.deps(), { ...request, estimate });
  if (started.kind === "started") await started.sending;
  await before?.(stage, taskId);
  const poll = async (interaction: Interaction): Promise<void> => {
    const deps = stage.deps({ poll: async () => ({ kind: "found", interaction }) });
    for (const run of await polledRuns(db)) await settleOutcome(db, run, await pollRun(deps, run));
  };
  await poll({ ...answer, usage: undefined });
  const entry = () => db.selectFrom("ledger").select(["state", "micros"]).executeTakeFirstOrThrow();
  return { taskId, poll, entry, row: () => rowOf(db, taskId) };
}

test.for(ENDS)(
  "a $name run whose usage is missing stays polled and keeps its reservation until Google reports what it used (T28, P6)",
  async (end, context) => {
    const stage = await openRunner(context);
    const { poll, entry, row, taskId } = await endWithoutUsage(stage, end);
    const status = end.name === "cancelled" ? "cancelled" : "failed";
    expect(await row()).toMatchObject({ status, usage_final: 0, next_poll_at: expect.any(Number) });
    expect(await entry()).toEqual({ state: "reserved", micros: 3_000_000 });
    // It is over: the user may delete it.
    expect(await isDeletable(stage.store.db, { taskIds: [taskId], now: clock.now() })).toBe(true);
    await poll({ ...end.answer, usage: undefined });
    expect(await entry()).toMatchObject({ state: "reserved" });
    await poll({ ...end.answer, status: status === "cancelled" ? "cancelled" : "failed" });
    expect(await row()).toMatchObject({ status, usage_final: 1, tokens_input: 10, next_poll_at: null });
    expect(await entry()).toEqual({ state: "settled", micros: 1_000_000 });
  },
);

test("a run whose usage never arrives is polled less and less, holds up nothing, and then no longer (T28, P6)", async (context) => {
  const stage = await openRunner(context);
  const { db } = stage.store;
  const [failed] = ENDS;
  if (failed === undefined) throw new Error("No end.");
  const { poll, entry, row } = await endWithoutUsage(stage, failed);
  const endedAgo = async (ms: number) => {
    const completed_at = clock.now() - ms;
    await db
      .updateTable("research_tasks")
      .set({ completed_at, deadline_at: clock.now() - Math.abs(ms) })
      .execute();
    const run = await polledRun(db);
    const deps = stage.deps({ poll: async () => ({ kind: "missing" }) });
    return (await pollRun(deps, run)).next;
  };
  const afterMs = async (ms: number): Promise<number> => {
    const next = await endedAgo(ms);
    return typeof next === "object" ? next.afterMs : NaN;
  };
  expect(await afterMs(0)).toBeLessThan(60_000);
  expect(await afterMs(HOUR)).toBe(15 * 60_000);
  // The clock was set back.
  expect(await afterMs(-HOUR)).toBe(15 * 60_000);
  expect(await endedAgo(3.1 * HOUR)).toBe("never");
  await db
    .updateTable("research_tasks")
    .set({ next_poll_at: clock.now() + HOUR })
    .execute();
  expect(await countPolledRuns(db, clock.now())).toBe(0);
  await db
    .updateTable("research_tasks")
    .set({ completed_at: clock.now() - 4 * HOUR, deadline_at: clock.now() - 4 * HOUR })
    .execute();
  await poll({ ...failed.answer, usage: undefined });
  expect(await row()).toMatchObject({ status: "failed", next_poll_at: null });
  expect(await entry()).toMatchObject({ state: "reserved", micros: 3_000_000 });
});

test("a timed-out run whose report is found while its usage is awaited is completed with it (T28, I11)", async (context) => {
  const stage = await openRunner(context);
  const timedOut = ENDS.find(({ name }) => name === "timed-out");
  if (timedOut === undefined) throw new Error("No end.");
  const { poll, entry, row } = await endWithoutUsage(stage, timedOut);
  await poll(FINISHED);
  expect(await row()).toMatchObject({ status: "completed", usage_final: 1, next_poll_at: null });
  expect(await entry()).toMatchObject({ state: "settled" });
});

const FAILED: Interaction = { ...FINISHED, status: "failed", rawStatus: "failed", report: "" };

test("the usage so far of a run with an unknown status settles nothing: the usage at its end does (T28, S4, P6)", async (context) => {
  const stage = await openRunner(context);
  const { db } = stage.store;
  const { poll, entry, row } = await endWithoutUsage(stage, { name: "unknown", answer: WORKING });
  const paused: Interaction = { ...FINISHED, status: "unknown", rawStatus: "paused", report: "" };
  await poll(paused);
  const longAgo = clock.now() - HOUR;
  await db.updateTable("research_tasks").set({ odd_answer_since: longAgo }).execute();
  await poll(paused);
  expect(await row()).toMatchObject({ status: "failed", usage_final: 0 });
  expect(await entry()).toEqual({ state: "reserved", micros: 3_000_000 });
  await poll({ ...FAILED, usage: { input: 900_000, output: 5, cached: 0, searches: 1 } });
  expect(await row()).toMatchObject({ status: "failed", usage_final: 1, tokens_input: 900_000, next_poll_at: null });
  expect(await entry()).toMatchObject({ state: "settled" });
});

test("a plan that failed after its cancel was requested is settled when Google reports what it used (T28, P6)", async (context) => {
  const stage = await openRunner(context);
  const { db } = stage.store;
  const { poll, entry, row, taskId } = await endWithoutUsage(stage, { name: "failed", answer: FAILED });
  const requested = { part: "plan", cancel_requested_at: clock.now() } as const;
  await db.updateTable("research_tasks").set(requested).execute();
  await poll({ ...FINISHED, usage: undefined });
  expect(await entry()).toMatchObject({ state: "reserved" });
  await poll(FINISHED);
  expect(await row()).toMatchObject({ status: "failed", usage_final: 1, next_poll_at: null });
  expect(await entry()).toMatchObject({ state: "settled" });
  expect((await findResult(db, taskId))?.report ?? "").toBe("");
});

test("a plan that is cancelled while its usage is awaited stays as it is stored, and can be deleted (T28, P6)", async (context) => {
  const stage = await openRunner(context);
  const { db } = stage.store;
  const { poll, entry, row, taskId } = await endWithoutUsage(stage, {
    name: "plan",
    answer: FINISHED,
    before: () => db.updateTable("research_tasks").set({ part: "plan" }).execute(),
  });
  expect(await row()).toMatchObject({ status: "completed", usage_final: 0 });
  await cancelHere(db, { taskId, isPlan: true, confirmed: true, keepPartial: true, now: clock.now() });
  await poll({ ...FINISHED, usage: undefined });
  expect(await row()).toMatchObject({ status: "cancelled", usage_final: 0 });
  expect(await findResult(db, taskId)).toMatchObject({ report: FINISHED.report, partial: false });
  expect(await isDeletable(db, { taskIds: [taskId], now: clock.now() })).toBe(true);
  await poll(FINISHED);
  expect(await row()).toMatchObject({ status: "cancelled", usage_final: 1, next_poll_at: null });
  expect(await entry()).toMatchObject({ state: "settled" });
});

test("a run whose cancel Google confirms hours later is polled for its usage from then on (T28, P6)", async (context) => {
  const stage = await openRunner(context);
  const { db } = stage.store;
  const cancelled: Interaction = { ...FINISHED, status: "cancelled", rawStatus: "cancelled", report: "" };
  const { poll, entry, row, taskId } = await endWithoutUsage(stage, {
    name: "cancelled",
    answer: WORKING,
    before: async ({ store }, id) => {
      await requestCancel(store.db, { taskId: id, keepPartial: true, now: clock.now() });
      const past = clock.now() - 4 * HOUR;
      await cancelHere(store.db, { taskId: id, confirmed: false, keepPartial: true, now: past });
    },
  });
  const deletion = { taskIds: [taskId], now: clock.now() };
  expect(await isDeletable(db, deletion)).toBe(false);
  for (let polls = 0; polls < 3; polls += 1) await poll({ ...cancelled, usage: undefined });
  expect(await row()).toMatchObject({ status: "cancelled", cancel_confirmed: 1, next_poll_at: expect.any(Number) });
  expect(await isDeletable(db, { ...deletion, now: clock.now() })).toBe(true);
  await poll(cancelled);
  expect(await row()).toMatchObject({ status: "cancelled", usage_final: 1, next_poll_at: null });
  expect(await entry()).toMatchObject({ state: "settled" });
});
