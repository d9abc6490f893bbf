/** What the database stores of a start that failed or was restarted by the user. */

import { describe, expect, test } from "vitest";
import { ERROR, intended, NOW, restart } from "../../../test/kit/store/stored-start.ts";
import { attemptRow, insertAttempt, insertRun, openDatabase, rowOf } from "../../../test/kit/store/store-rows.ts";
import type { Database } from "../../store/database.ts";
import { START_LEASE_MS } from "../lock-store.ts";
import { currentAttempt } from "../attempt-store.ts";
import { cancelHere } from "../cancel/cancel-store.ts";
import { currentOf } from "../conversation-store.ts";
import { recordStartFailure } from "./start-store.ts";

describe("a restart of an unknown start", () => {
  test("is a new run in its place with the full time limit (Q1)", async () => {
    const db = await openDatabase();
    const { taskId, attemptId } = await intended(db);
    const other = await intended(db, { joinKey: "another" });
    for (const { taskId: id, attemptId: attempt } of [{ taskId, attemptId }, other]) {
      await recordStartFailure(db, { taskId: id, attemptId: attempt, to: "start_unknown", error: ERROR, now: NOW });
    }
    const second = await restart(db, taskId);
    expect(await rowOf(db, second?.taskId ?? "")).toMatchObject({
      carries_on: taskId,
      status: "pending",
      lease_owner: "you",
      lease_until: NOW + 100 + START_LEASE_MS,
      updated_at: NOW + 100,
      deadline_at: NOW + 100 + 1_000,
      error_code: null,
      error_message: null,
    });
    expect(await currentAttempt(db, second?.taskId ?? "")).toMatchObject({
      attempt_id: second?.attemptId,
      state: "sending",
      sent_at: NOW + 100,
      key_fingerprint: "k2",
      base_url: "b2",
    });
    expect(await attemptRow(db, attemptId)).toMatchObject({ state: "unknown" });
    expect((await rowOf(db, other.taskId)).status).toBe("start_unknown");
  });

  test.each(["pending", "running_async", "completed", "failed", "cancelled"])(
    "is refused for a run that is %s (Q1)",
    async (status) => {
      const db = await openDatabase();
      await insertRun(db, { task_id: "a", status });
      expect(await restart(db, "a")).toBeUndefined();
      expect(await rowOf(db, "a")).toMatchObject({ status, updated_at: 1 });
      expect(await currentAttempt(db, "a")).toBeUndefined();
    },
  );
});

describe("a failed start", () => {
  const fail = (db: Database, start: { taskId: string; attemptId: string }, to: "failed" | "start_unknown") =>
    recordStartFailure(db, { ...start, to, error: ERROR, now: NOW + 7 });

  test.each([
    ["failed", "refused", NOW + 7],
    ["start_unknown", "unknown", null],
  ] as const)("recorded as %s leaves its attempt %s (I8)", async (to, state, completed) => {
    const db = await openDatabase();
    const start = await intended(db);
    const other = await intended(db, { joinKey: "another" });
    await fail(db, start, to);
    expect(await rowOf(db, start.taskId)).toMatchObject({
      status: to,
      error_code: ERROR.code,
      error_message: ERROR.message,
      updated_at: NOW + 7,
      completed_at: completed,
      lease_until: null,
    });
    expect(await attemptRow(db, start.attemptId)).toMatchObject({ state, answered_at: NOW + 7 });
    expect(await rowOf(db, other.taskId)).toMatchObject({ status: "pending" });
    expect(await attemptRow(db, other.attemptId)).toMatchObject({ state: "sending" });
  });

  test("changes nothing when its run was cancelled or its id stored meanwhile (L1)", async () => {
    const db = await openDatabase();
    await insertRun(db, { task_id: "a", status: "cancelled" });
    await insertAttempt(db, { attempt_id: "of a", task_id: "a", interaction_id: "v1_a", state: "accepted" });
    await fail(db, { taskId: "a", attemptId: "of a" }, "failed");
    expect(await rowOf(db, "a")).toMatchObject({ status: "cancelled", error_code: null });
    expect(await attemptRow(db, "of a")).toMatchObject({ state: "accepted", answered_at: null });
  });

  test("that Google refuses after a cancel was not charged, and the cancel is certain (L1, P6)", async () => {
    const db = await openDatabase();
    const { taskId, attemptId } = await intended(db);
    await cancelHere(db, { taskId, confirmed: false, keepPartial: true, now: NOW });
    await fail(db, { taskId, attemptId }, "start_unknown");
    expect(await currentOf(db, "local", taskId)).toMatchObject({ status: "cancelled", cost: { usd: undefined } });
    await fail(db, { taskId, attemptId }, "failed");
    expect(await currentOf(db, "local", taskId)).toMatchObject({
      status: "cancelled",
      cancelConfirmed: true,
      cost: { usd: 0 },
    });
  });

  test("that was an uncharged restart leaves the first start unknown (Q1)", async () => {
    const db = await openDatabase();
    const first = await intended(db);
    await fail(db, first, "start_unknown");
    const again = async () => {
      const start = await restart(db, first.taskId);
      if (start === undefined) throw new Error("It was not sent again.");
      return start;
    };
    const second = await again();
    await fail(db, second, "failed");
    expect(await rowOf(db, first.taskId)).toMatchObject({
      status: "start_unknown",
      error_code: "START_UNKNOWN",
      error_message: `${ERROR.message} It is still unknown whether Google accepted the earlier start.`,
      completed_at: null,
    });
    expect(await attemptRow(db, second.attemptId)).toMatchObject({ state: "refused" });
    const third = await again();
    await fail(db, third, "start_unknown");
    expect(await currentOf(db, "local", first.taskId)).toMatchObject({
      taskId: third.taskId,
      status: "start_unknown",
      error: { message: ERROR.message },
    });
  });

  test("reported by a sender that was suspended during a restart does not change the new run (Q1)", async () => {
    const db = await openDatabase();
    const asleep = await intended(db);
    await fail(db, asleep, "start_unknown");
    const second = await restart(db, asleep.taskId);
    await fail(db, asleep, "failed");
    expect(await currentOf(db, "local", asleep.taskId)).toMatchObject({
      taskId: second?.taskId,
      status: "pending",
      error: undefined,
    });
    expect(await attemptRow(db, second?.attemptId ?? "")).toMatchObject({ state: "sending" });
  });
});
