/** Interaction ids: each belongs to one attempt, and each paid interaction is polled by one run. */

import { describe, expect, test } from "vitest";
import { openDatabase, rowOf } from "../../test/kit/store/store-rows.ts";
import { ERROR, INTENT, intended, NOW, restart } from "../../test/kit/store/stored-start.ts";
import { asPolled, polledRun } from "../../test/kit/store/polled.ts";
import { NO_COST } from "../costs/actual.ts";
import type { Database } from "../store/database.ts";
import { systemClock } from "../platform/clock.ts";
import { cancelRun } from "./cancel/cancel.ts";
import { currentOf } from "./conversation-store.ts";
import { interactionIdsOf } from "./deletion/deletion-store.ts";
import { appendEvents } from "./event-store.ts";
import { adoptInteractionId, saveInteractionId, unknownStartIn } from "./interaction-store.ts";
import { recordLateUsage } from "./poll/poll-result-store.ts";
import { endPolling } from "./scheduling/polled-store.ts";
import { findResult, savePartial } from "./result-store.ts";
import { commitIntent, recordStartFailure } from "./start/start-store.ts";

const adopt = (db: Database, taskId: string, interactionId: string) =>
  adoptInteractionId(db, { taskId, interactionId, deadlineAt: NOW + 9_000, now: NOW });

/** A start whose response was lost. */
async function unknownStart(db: Database, joinKey = "the-same", owner = "local") {
  const start = await intended(db, { joinKey, owner });
  await recordStartFailure(db, { ...start, to: "start_unknown", error: ERROR, now: NOW });
  return start;
}

const followed = (db: Database) =>
  db
    .selectFrom("research_tasks")
    .select(["task_id", "parent_task_id", "carries_on", "interaction_id", "status", "next_poll_at"])
    .where("interaction_id", "is not", null)
    .orderBy("interaction_id")
    .execute();

/** An unknown start, and the run that was sent in its place on the user's decision. */
async function startedTwice(db: Database) {
  const first = await unknownStart(db);
  const second = await restart(db, first.taskId);
  if (second === undefined) throw new Error("It was not sent again.");
  return { first, second };
}

describe("a start that was sent again", () => {
  test("stands for the second run until it is known itself; then each polls its own interaction (I8)", async () => {
    const db = await openDatabase();
    const { first, second } = await startedTwice(db);
    await saveInteractionId(db, { ...second, interactionId: "v1_b", now: NOW });
    const current = async (taskId: string) => (await currentOf(db, "local", taskId)).taskId;
    expect([await current(first.taskId), await current(second.taskId)]).toEqual([second.taskId, second.taskId]);
    for (const _ of [1, 2]) await saveInteractionId(db, { ...first, interactionId: "v1_a", now: NOW + 5 });
    const polled = { carries_on: null, status: "running_async" };
    expect(await followed(db)).toMatchObject([
      { ...polled, task_id: first.taskId, parent_task_id: null, interaction_id: "v1_a", next_poll_at: NOW + 5 },
      { ...polled, task_id: second.taskId, parent_task_id: first.taskId, interaction_id: "v1_b", next_poll_at: NOW },
    ]);
    expect([await current(first.taskId), await current(second.taskId)]).toEqual([first.taskId, second.taskId]);
    for (const run of await followed(db))
      expect(await interactionIdsOf(db, [run.task_id])).toEqual([run.interaction_id]);
  });

  test("and whose first id is adopted while the second start is being sent polls both (I8, Q1)", async () => {
    const db = await openDatabase();
    const { first, second } = await startedTwice(db);
    expect(await unknownStartIn(db, second.taskId)).toBe(first.taskId);
    expect(await adopt(db, first.taskId, "v1_a")).toBe(true);
    expect(await saveInteractionId(db, { ...second, interactionId: "v1_b", now: NOW })).toBe(true);
    expect((await followed(db)).map(({ interaction_id, status }) => [interaction_id, status])).toEqual([
      ["v1_a", "running_async"],
      ["v1_b", "running_async"],
    ]);
  });

  test("and is refused, uncharged, gives way to the first, which is unknown as before (I8, Q1)", async () => {
    const db = await openDatabase();
    const { first, second } = await startedTwice(db);
    await recordStartFailure(db, { ...second, to: "failed", error: ERROR, now: NOW });
    for (const { taskId } of [first, second]) {
      expect(await currentOf(db, "local", taskId)).toMatchObject({
        taskId: first.taskId,
        status: "start_unknown",
        error: { code: "START_UNKNOWN", message: expect.stringContaining("still unknown") },
      });
    }
    expect(await restart(db, first.taskId)).toBeDefined();
  });

  test("is carried on by the second when it turns out not to have been sent (I8)", async () => {
    const db = await openDatabase();
    const plan = await intended(db, { part: "plan" });
    await saveInteractionId(db, { ...plan, interactionId: "v1_plan", now: NOW });
    await db.updateTable("research_tasks").set({ status: "completed" }).execute();
    const carriesOn = { taskId: plan.taskId, from: "completed" } as const;
    const first = await intended(db, { part: "research", carriesOn }, false);
    await recordStartFailure(db, { ...first, to: "start_unknown", error: ERROR, now: NOW });
    const second = await restart(db, first.taskId);
    await recordStartFailure(db, { ...first, to: "failed", error: ERROR, now: NOW });
    expect((await currentOf(db, "local", plan.taskId)).taskId).toBe(second?.taskId);
    expect(await commitIntent(db, { ...INTENT, part: "research", carriesOn }, { join: false })).toEqual({
      kind: "decided",
    });
  });

  test("and was cancelled is cancelled at Google too, once its id is known (L1)", async () => {
    const db = await openDatabase();
    const { first, second } = await startedTwice(db);
    await saveInteractionId(db, { ...second, interactionId: "v1_b", now: NOW });
    const deps = { db, clock: systemClock, agent: undefined, pollNow: async () => {} };
    await db.updateTable("research_tasks").set({ status: "completed" }).where("interaction_id", "=", "v1_b").execute();
    await expect(cancelRun(deps, { owner: "local", taskId: first.taskId, keepPartial: true })).rejects.toThrow();
    await db.updateTable("research_tasks").set({ status: "start_unknown", interaction_id: null }).execute();
    await cancelRun(deps, { owner: "local", taskId: first.taskId, keepPartial: true });
    await saveInteractionId(db, { ...first, interactionId: "v1_a", now: NOW });
    expect(await rowOf(db, first.taskId)).toMatchObject({
      status: "cancelled",
      cancel_confirmed: 0,
      next_poll_at: NOW,
    });
  });
});

test("a second answer to one start has a run of its own, with the full time of its options (I8, I11)", async () => {
  const db = await openDatabase();
  const start = await unknownStart(db);
  expect(await adopt(db, start.taskId, "v1_a")).toBe(true);
  for (const _ of [1, 2]) await saveInteractionId(db, { ...start, interactionId: "v1_b", now: NOW + 5 });
  const [, other] = await followed(db);
  expect(await followed(db)).toHaveLength(2);
  expect(await rowOf(db, other?.task_id ?? "")).toMatchObject({
    parent_task_id: start.taskId,
    interaction_id: "v1_b",
    status: "running_async",
    deadline_at: NOW + 5 + 1_000,
  });
});

describe("an id adopted for a cancelled start", () => {
  const cancel = (db: Database, taskId: string, confirmed: 0 | 1) =>
    db
      .updateTable("research_tasks")
      .set({ status: "cancelled", cancel_requested_at: NOW, cancel_confirmed: confirmed, completed_at: NOW })
      .where("task_id", "=", taskId)
      .execute();
  const WANTED = { status: "running_async", cancel_requested_at: null, cancel_confirmed: null, completed_at: null };

  test("withdraws the cancel, so that no poll cancels the paid research (L1, Q1)", async () => {
    const db = await openDatabase();
    const { taskId } = await unknownStart(db);
    await cancel(db, taskId, 0);
    expect(await adopt(db, taskId, "v1_a")).toBe(true);
    expect(await rowOf(db, taskId)).toMatchObject({ ...WANTED, next_poll_at: NOW, keep_partial: 1 });
  });
});

describe("an interaction id", () => {
  test("is adopted by one run only, whichever owner has the other (Q1)", async () => {
    const db = await openDatabase();
    const mine = await unknownStart(db, "mine", "alice");
    const theirs = await unknownStart(db, "theirs", "bob");
    expect(await adopt(db, mine.taskId, "v1_a")).toBe(true);
    expect(await adopt(db, theirs.taskId, "v1_a")).toBe(false);
    expect(await rowOf(db, theirs.taskId)).toMatchObject({ status: "start_unknown", interaction_id: null });
  });

  test("that another run adopted is still stored for the start that Google answers with it (I8)", async () => {
    const db = await openDatabase();
    const { taskId, attemptId } = await unknownStart(db, "mine");
    const other = await unknownStart(db, "theirs");
    await adopt(db, other.taskId, "v1_a");
    expect(await saveInteractionId(db, { attemptId, interactionId: "v1_a", now: NOW })).toBe(true);
    expect(await rowOf(db, taskId)).toMatchObject({ status: "running_async", interaction_id: "v1_a" });
  });

  test.each(["running_async", "completed", "cancelled"] as const)(
    "is taken from the %s run that adopted it by mistake, and gets the text that was read under it (Q1)",
    async (status) => {
      const db = await openDatabase();
      const alice = await unknownStart(db, "hers", "alice");
      const bob = await unknownStart(db, "his", "bob");
      await adopt(db, bob.taskId, "v1_a");
      const hers = { report: "Her report.", sources: [], metadata: {}, partial: true };
      await savePartial(db, { taskId: bob.taskId, interactionId: "v1_a" }, { result: hers, now: NOW });
      await appendEvents(db, bob.taskId, [{ kind: "thought", text: "Her thought.", at: NOW }]);
      await db.updateTable("research_tasks").set({ status }).where("task_id", "=", bob.taskId).execute();
      expect(await saveInteractionId(db, { ...alice, interactionId: "v1_a", now: NOW })).toBe(true);
      expect(await followed(db)).toMatchObject([{ task_id: alice.taskId, interaction_id: "v1_a" }]);
      expect(await rowOf(db, bob.taskId)).toMatchObject({
        status: status === "cancelled" ? "cancelled" : "start_unknown",
        interaction_id: null,
        next_poll_at: null,
      });
      expect(await findResult(db, bob.taskId)).toBeUndefined();
      // Google may have deleted it by now.
      expect(await findResult(db, alice.taskId)).toMatchObject({ report: "Her report.", partial: true });
      expect(await db.selectFrom("research_events").select("seq").execute()).toEqual([]);
      expect(await interactionIdsOf(db, [bob.taskId])).toEqual([]);
      expect(await unknownStartIn(db, bob.taskId)).toBe(bob.taskId);
      expect(await adopt(db, bob.taskId, "v1_b")).toBe(true);
    },
  );
});

test("a poll of a wrongly adopted interaction, complete or given up, does not end the polls of the run's own (Q1, P6)", async () => {
  const db = await openDatabase();
  const alice = await unknownStart(db, "hers", "alice");
  const bob = await unknownStart(db, "his", "bob");
  await adopt(db, bob.taskId, "v1_a");
  const wrong = await polledRun(db);
  await saveInteractionId(db, { ...alice, interactionId: "v1_a", now: NOW });
  await saveInteractionId(db, { ...bob, interactionId: "v1_b", now: NOW });
  await recordLateUsage(db, wrong, { tokens: { input: 1, output: 1 }, cost: NO_COST, now: NOW });
  await endPolling(db, [asPolled(wrong)]);
  expect(await rowOf(db, bob.taskId)).toMatchObject({ interaction_id: "v1_b", next_poll_at: NOW, usage_final: 0 });
});
