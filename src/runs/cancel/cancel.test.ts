import { expect, test } from "vitest";
import { clock, FINISHED, openRunner, request, WORKING } from "../../../test/kit/store/runner.ts";
import { insertRun, openDatabase, rowOf } from "../../../test/kit/store/store-rows.ts";
import { thisProcess } from "../../platform/process-identity.ts";
import { registerProcess } from "../../store/processes.ts";
import { SEARCH_LEASE_MS } from "../lock-store.ts";
import { beginContinuation } from "../run-store.ts";
import { cancelRun } from "./cancel.ts";
import { cancelHere } from "./cancel-store.ts";
import { polledRun } from "../../../test/kit/store/polled.ts";
import { type AgentFinish, finishAgentRun } from "../poll/poll-result-store.ts";
import { resultOf } from "../poll/agent-result.ts";
import type { PolledRun } from "../run.ts";
import { findResult } from "../result-store.ts";
import { adoptInteractionId, saveInteractionId } from "../interaction-store.ts";
import { currentOf } from "../conversation-store.ts";
import { intended, restart } from "../../../test/kit/store/stored-start.ts";
import { startResearch } from "../start/start.ts";

/** The completed report of this run, as a poll stores it. */
const reportOf = (run: PolledRun): AgentFinish => ({
  run,
  to: "completed",
  result: resultOf(FINISHED, { partial: false }),
  raw: undefined,
  error: undefined,
  tokens: undefined,
  cost: undefined,
  usageFinal: true,
  nextPollAt: undefined,
  now: clock.now(),
});

test("a report that Google finishes during a cancel is kept even if partial text is discarded (L2)", async (t) => {
  const { store, deps } = await openRunner(t);
  const { db } = store;
  const research = deps({ poll: async () => ({ kind: "found", interaction: WORKING }) });
  const started = await startResearch(research, request);
  if (started.kind === "started") await started.sending;
  const { taskId } = started;
  const finish = async (): Promise<void> => {
    await finishAgentRun(db, reportOf(await polledRun(store.db)));
  };
  // The cancel reads the lease holder between its last read of the run and the write that would end it.
  let finished = false;
  const racing = db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      const asksForHolder = Object.keys(result.rows[0] ?? {}).join() === "lease_owner,lease_until";
      if (asksForHolder && !finished) {
        finished = true;
        await finish();
      }
      return result;
    },
  });
  const run = await cancelRun(
    { db: racing, clock, agent: undefined, pollNow: async () => {} },
    { owner: "local", taskId, keepPartial: false },
  );
  expect(run.status).toBe("completed");
  expect((await findResult(db, taskId))?.report).toBe(FINISHED.report);
});

test("a report that is stored right after an unconfirmed cancel is not dropped together with the partial text (L1)", async (t) => {
  const { store, deps } = await openRunner(t);
  const { db } = store;
  const started = await startResearch(deps(), request);
  if (started.kind === "started") await started.sending;
  const { taskId } = started;
  // The report arrives after the cancel has written its flag and the final state, and nothing else.
  const claimed = await polledRun(store.db);
  let updates = 0;
  let stored: Promise<unknown> = Promise.resolve();
  const racing = db.withPlugin({
    transformQuery: ({ node }) => {
      if (node.kind === "UpdateQueryNode") updates += 1;
      return node;
    },
    transformResult: async ({ result }) => {
      if (updates === 2) stored = finishAgentRun(db, reportOf(claimed));
      if (updates === 2) updates += 1;
      return result;
    },
  });
  const cancel = { owner: "local", taskId, keepPartial: false };
  await cancelRun({ db: racing, clock, agent: undefined, pollNow: async () => {} }, cancel);
  expect(await stored).toBe(true);
  expect((await findResult(db, taskId))?.report).toBe(FINISHED.report);
});

test("a run that is cancelled while it is polled is due again at once, until Google confirms the cancel (L1)", async (t) => {
  const { store, deps } = await openRunner(t);
  const { db } = store;
  const started = await startResearch(deps(), request);
  if (started.kind === "started") await started.sending;
  const { taskId } = started;
  // As the claim of a poll in flight writes it.
  const until = Date.now() + 60_000;
  const claim = { lease_owner: "a process", lease_until: until, next_poll_at: until };
  await db.updateTable("research_tasks").set(claim).where("task_id", "=", taskId).execute();
  const now = Date.now();
  expect(await cancelHere(db, { taskId, confirmed: false, keepPartial: true, now })).toBe(true);
  expect(await rowOf(db, taskId)).toMatchObject({ status: "cancelled", lease_until: null, next_poll_at: now });
});

test("a restart that is not sent yet gives way to its first start, and a cancel reaches both (Q1, L1)", async (t) => {
  const { store, deps } = await openRunner(t);
  const { db } = store;
  const research = deps({ start: async () => ({ kind: "unknown", why: "The connection broke." }) });
  const started = await startResearch(research, request);
  if (started.kind === "started") await started.sending;
  const { taskId } = started;
  const now = clock.now();
  const again = (await restart(db, taskId, now))?.taskId ?? "";
  expect((await currentOf(db, "local", taskId)).taskId).toBe(again);
  await adoptInteractionId(db, { taskId, interactionId: "v1_first", deadlineAt: now + 60_000, now });
  for (const id of [taskId, again]) expect((await currentOf(db, "local", id)).taskId).toBe(taskId);
  const cancelled: string[] = [];
  const agent = deps({
    cancel: async (id) => {
      cancelled.push(id);
      return { kind: "found", interaction: { ...WORKING, id, status: "cancelled", rawStatus: "cancelled" } };
    },
  }).agent;
  await cancelRun({ db, clock, agent, pollNow: async () => {} }, { owner: "local", taskId: again, keepPartial: true });
  expect(cancelled).toEqual(["v1_first"]);
  expect((await rowOf(db, again)).cancel_requested_at).not.toBeNull();
});

test("a plan that is approved while it is being cancelled is cancelled at Google, too (V2, L1)", async (t) => {
  const { store, deps } = await openRunner(t);
  const { db } = store;
  const started = await startResearch(deps(), { ...request, variant: { collaborativePlanning: true } });
  if (started.kind === "started") await started.sending;
  const { taskId } = started;
  await db.updateTable("research_tasks").set({ status: "completed" }).where("task_id", "=", taskId).execute();
  const cancelled: string[] = [];
  const agent = deps({
    cancel: async (id) => {
      cancelled.push(id);
      return { kind: "found", interaction: { ...WORKING, id, status: "cancelled", rawStatus: "cancelled" } };
    },
  }).agent;
  // Another process approves the plan after the cancel has read its state.
  let isApproved = false;
  const racing = db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (!isApproved) {
        isApproved = true;
        const carriesOn = { taskId, from: "completed" } as const;
        const research = await intended(db, { part: "research", carriesOn }, false);
        await saveInteractionId(db, { ...research, interactionId: "v1_research", now: clock.now() });
      }
      return result;
    },
  });
  const run = await cancelRun(
    { db: racing, clock, agent, pollNow: async () => {} },
    { owner: "local", taskId, keepPartial: true },
  );
  expect(cancelled).toEqual([run.interactionId]);
  expect(run).toMatchObject({ part: "research", status: "cancelled", cancelConfirmed: false });
  expect(await rowOf(db, taskId)).toMatchObject({ status: "completed" });
});

test.each([
  ["alive, for all that is known", SEARCH_LEASE_MS, "running"],
  ["gone, by its lease", -1, "cancelled"],
])(
  "a search of another machine whose process is %s is left to that process or ended here (L2)",
  async (_, lease, status) => {
    const db = await openDatabase();
    let now = 1_000_000;
    const waited = { now: () => now, monotonic: () => now, sleep: async (ms: number) => void (now += ms) };
    await registerProcess(db, { ...thisProcess(), processId: "elsewhere", host: "another machine" }, now);
    await insertRun(db, {
      task_id: "a",
      kind: "deep_search",
      status: "running",
      lease_owner: "elsewhere",
      lease_until: now + lease,
    });
    const run = await cancelRun(
      { db, clock: waited, agent: undefined, pollNow: async () => {} },
      { owner: "local", taskId: "a", keepPartial: true },
    );
    expect(run.status).toBe(status);
    expect((await rowOf(db, "a")).cancel_requested_at).not.toBeNull();
  },
);

test("the id of an interrupted search cancels the search that continues it (L1, Q1)", async () => {
  const db = await openDatabase();
  const stopped = { kind: "deep_search", status: "failed", query: "q" } as const;
  await insertRun(db, { ...stopped, task_id: "stopped" });
  const next = {
    owner: "local",
    client: undefined,
    kind: "deep_search",
    query: "q",
    options: {},
    now: clock.now(),
  } as const;
  const { processId } = thisProcess();
  await beginContinuation(db, {
    ...next,
    taskId: "next",
    parentTaskId: "stopped",
    processId,
    claimRest: async () => ({}),
  });
  const cancelling = { db, clock, agent: undefined, pollNow: async () => {} };
  const run = await cancelRun(cancelling, { owner: "local", taskId: "stopped", keepPartial: true });
  expect(run).toMatchObject({ taskId: "next", cancelRequestedAt: expect.any(Number) });
});
