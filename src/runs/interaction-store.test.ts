/** Interaction ids: each belongs to one attempt, and each paid interaction is polled by one run. */

import { describe, expect, test } from "vitest";
import { openDatabase, rowOf } from "../../test/kit/store/store-rows.ts";
import { ERROR, intended, NOW, restart } from "../../test/kit/store/stored-start.ts";
import type { Database } from "../store/database.ts";
import { interactionIdsOf } from "./deletion/deletion-store.ts";
import { appendEvents } from "./event-store.ts";
import { adoptInteractionId, hasUnknownAttempt, saveInteractionId } from "./interaction-store.ts";
import { findResult, savePartial } from "./result-store.ts";
import { recordStartFailure } from "./start/start-store.ts";

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
    .select(["task_id", "parent_task_id", "interaction_id", "status", "next_poll_at"])
    .where("interaction_id", "is not", null)
    .orderBy("interaction_id")
    .execute();

describe("a run that was started twice", () => {
  test("has a second run for the second interaction, created once and polled to its own end (I8)", async () => {
    const db = await openDatabase();
    const { taskId, attemptId: first } = await unknownStart(db);
    const second = (await restart(db, taskId)) ?? "";
    await saveInteractionId(db, { attemptId: second, interactionId: "v1_b", now: NOW });
    for (const _ of [1, 2]) await saveInteractionId(db, { attemptId: first, interactionId: "v1_a", now: NOW + 5 });
    expect(await followed(db)).toEqual([
      {
        task_id: expect.not.stringMatching(taskId),
        parent_task_id: taskId,
        interaction_id: "v1_a",
        status: "running_async",
        next_poll_at: NOW + 5,
      },
      { task_id: taskId, parent_task_id: null, interaction_id: "v1_b", status: "running_async", next_poll_at: NOW },
    ]);
  });

  test("and whose first id is adopted while the second start is being sent polls both (I8, Q1)", async () => {
    const db = await openDatabase();
    const { taskId } = await unknownStart(db);
    const second = (await restart(db, taskId)) ?? "";
    expect(await adopt(db, taskId, "v1_a")).toBe(taskId);
    expect(await saveInteractionId(db, { attemptId: second, interactionId: "v1_b", now: NOW })).toBe(true);
    expect((await followed(db)).map(({ interaction_id, status }) => [interaction_id, status])).toEqual([
      ["v1_a", "running_async"],
      ["v1_b", "running_async"],
    ]);
  });

  test("and whose first id is adopted when the second is known polls both (I8, Q1)", async () => {
    const db = await openDatabase();
    const { taskId } = await unknownStart(db);
    const second = (await restart(db, taskId)) ?? "";
    await saveInteractionId(db, { attemptId: second, interactionId: "v1_b", now: NOW });
    const adopter = await adopt(db, taskId, "v1_a");
    expect(await rowOf(db, adopter ?? "")).toMatchObject({ parent_task_id: taskId, interaction_id: "v1_a" });
    expect(await adopt(db, taskId, "v1_a")).toBe(adopter);
    expect(await followed(db)).toHaveLength(2);
  });

  test("and was cancelled has its second interaction cancelled at Google too (L1)", async () => {
    const db = await openDatabase();
    const { taskId, attemptId: first } = await unknownStart(db);
    const second = (await restart(db, taskId)) ?? "";
    await saveInteractionId(db, { attemptId: second, interactionId: "v1_b", now: NOW });
    await db
      .updateTable("research_tasks")
      .set({ status: "cancelled", cancel_requested_at: NOW, cancel_confirmed: 1 })
      .where("task_id", "=", taskId)
      .execute();
    await saveInteractionId(db, { attemptId: first, interactionId: "v1_a", now: NOW });
    expect(await db.selectFrom("research_tasks").selectAll().where("interaction_id", "=", "v1_a").execute()).toEqual([
      expect.objectContaining({ status: "cancelled", cancel_confirmed: 0, next_poll_at: NOW }),
    ]);
  });
});

describe("the second interaction of a run", () => {
  test("belongs to its own run: deleting the first run at Google leaves it untouched (I8, T-2)", async () => {
    const db = await openDatabase();
    const { taskId, attemptId: first } = await unknownStart(db);
    const second = (await restart(db, taskId)) ?? "";
    await saveInteractionId(db, { attemptId: second, interactionId: "v1_b", now: NOW });
    for (const _ of [1, 2]) await saveInteractionId(db, { attemptId: first, interactionId: "v1_a", now: NOW });
    // Two responses to one attempt: the second id has no attempt yet.
    for (const _ of [1, 2]) await saveInteractionId(db, { attemptId: second, interactionId: "v1_c", now: NOW });
    const runs = await followed(db);
    expect(runs).toHaveLength(3);
    for (const run of runs) expect(await interactionIdsOf(db, run.task_id)).toEqual([run.interaction_id]);
  });

  test("has the full time of its options, however late the first run was restarted (I11)", async () => {
    const db = await openDatabase();
    const { taskId, attemptId: first } = await unknownStart(db);
    const second = (await restart(db, taskId)) ?? "";
    await saveInteractionId(db, { attemptId: second, interactionId: "v1_b", now: NOW });
    await saveInteractionId(db, { attemptId: first, interactionId: "v1_a", now: NOW + 5 });
    const [child] = await followed(db);
    expect(await rowOf(db, child?.task_id ?? "")).toMatchObject({ deadline_at: NOW + 5 + 1_000 });
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
    expect(await adopt(db, taskId, "v1_a")).toBe(taskId);
    expect(await rowOf(db, taskId)).toMatchObject({ ...WANTED, next_poll_at: NOW, keep_partial: 1 });
  });

  test("is polled even if the run has another interaction, which stays cancelled (L1, Q1)", async () => {
    const db = await openDatabase();
    const { taskId } = await unknownStart(db);
    const second = (await restart(db, taskId)) ?? "";
    await saveInteractionId(db, { attemptId: second, interactionId: "v1_b", now: NOW });
    await cancel(db, taskId, 1);
    const child = (await adopt(db, taskId, "v1_a")) ?? "";
    expect(await rowOf(db, child)).toMatchObject({ ...WANTED, parent_task_id: taskId });
    expect(await rowOf(db, taskId)).toMatchObject({ status: "cancelled", cancel_requested_at: NOW });
  });
});

describe("an interaction id", () => {
  test("is adopted by one run only, whichever owner has the other (Q1)", async () => {
    const db = await openDatabase();
    const mine = await unknownStart(db, "mine", "alice");
    const theirs = await unknownStart(db, "theirs", "bob");
    expect(await adopt(db, mine.taskId, "v1_a")).toBe(mine.taskId);
    expect(await adopt(db, theirs.taskId, "v1_a")).toBeUndefined();
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
    "is taken from the %s run that adopted it by mistake, with everything read under it (Q1)",
    async (status) => {
      const db = await openDatabase();
      const alice = await unknownStart(db, "hers", "alice");
      const bob = await unknownStart(db, "his", "bob");
      await adopt(db, bob.taskId, "v1_a");
      const hers = { report: "Her report.", sources: [], metadata: {}, partial: true };
      const { lease_epoch } = await rowOf(db, bob.taskId);
      await savePartial(db, { taskId: bob.taskId, epoch: lease_epoch }, { result: hers, now: NOW });
      await appendEvents(db, bob.taskId, [{ kind: "thought", text: "Her thought.", at: NOW }]);
      await db.updateTable("research_tasks").set({ status }).where("task_id", "=", bob.taskId).execute();
      expect(await saveInteractionId(db, { ...alice, interactionId: "v1_a", now: NOW })).toBe(true);
      expect(await followed(db)).toMatchObject([{ task_id: alice.taskId, interaction_id: "v1_a" }]);
      expect(await rowOf(db, bob.taskId)).toMatchObject({
        status: status === "cancelled" ? "cancelled" : "start_unknown",
        interaction_id: null,
        next_poll_at: null,
        lease_epoch: lease_epoch + 1,
      });
      expect(await findResult(db, bob.taskId)).toBeUndefined();
      expect(await db.selectFrom("research_events").select("seq").execute()).toEqual([]);
      expect(await interactionIdsOf(db, bob.taskId)).toEqual([]);
      expect(await hasUnknownAttempt(db, bob.taskId)).toBe(true);
      expect(await adopt(db, bob.taskId, "v1_b")).toBe(bob.taskId);
    },
  );
});
