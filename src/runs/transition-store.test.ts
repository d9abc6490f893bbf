/** Transitions on a real database: the states and the holder that they expect. */

import { describe, expect, test } from "vitest";
import { insertRun, openDatabase, rowOf } from "../../test/kit/store/store-rows.ts";
import { type AgentFinish, finishAgentRun } from "./poll/poll-result-store.ts";
import { transition } from "./transition-store.ts";

const RUN = "run";
const POLLED = {
  taskId: RUN,
  interactionId: `v1_${RUN}`,
  createdAt: 1,
  part: "question",
  cancelRequestedAt: undefined,
} as const;

const finish = (given: Partial<AgentFinish> = {}): AgentFinish => ({
  run: POLLED,
  to: "cancelled",
  result: undefined,
  raw: undefined,
  error: undefined,
  tokens: undefined,
  cost: undefined,
  usageFinal: true,
  nextPollAt: undefined,
  now: 500,
  ...given,
});

describe("the end of a polled run", () => {
  test("is stored once; a poll of another interaction changes nothing (P2)", async () => {
    const db = await openDatabase();
    await insertRun(db, { task_id: RUN });
    expect(await finishAgentRun(db, finish({ run: { ...POLLED, interactionId: "v1_another" } }))).toBe(false);
    expect(await rowOf(db, RUN)).toMatchObject({ status: "running_async", completed_at: null });
    expect(await finishAgentRun(db, finish())).toBe(true);
    expect(await finishAgentRun(db, finish({ to: "failed", now: 600 }))).toBe(false);
    expect(await rowOf(db, RUN)).toMatchObject({ status: "cancelled", completed_at: 500 });
  });

  test("keeps its time when Google confirms the cancel later (L1)", async () => {
    const db = await openDatabase();
    await insertRun(db, { task_id: RUN, status: "cancelled", completed_at: 100, next_poll_at: 1 });
    expect(await finishAgentRun(db, finish({ confirmsCancel: true, cancelConfirmed: true }))).toBe(true);
    expect(await rowOf(db, RUN)).toMatchObject({ status: "cancelled", completed_at: 100, cancel_confirmed: 1 });
  });
});

describe("a transition", () => {
  test("of a run in another state changes nothing (P1)", async () => {
    const db = await openDatabase();
    await insertRun(db, { task_id: RUN, status: "completed" });
    const { numUpdatedRows } = await transition(db, {
      taskId: RUN,
      to: "failed",
      holder: "any",
      set: {},
    }).executeTakeFirst();
    expect(numUpdatedRows).toBe(0n);
  });

  test("that the table does not allow is an error (P1)", async () => {
    const db = await openDatabase();
    expect(() => transition(db, { taskId: RUN, to: "pending", from: ["completed"], holder: "any", set: {} })).toThrow(
      "from completed to pending",
    );
  });
});
