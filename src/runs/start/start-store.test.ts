/** What the database stores of a paid start, with concurrent callers and suspended or late senders. */

import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ERROR, INTENT, intended, NOW, restart } from "../../../test/kit/store/stored-start.ts";
import { attemptRow, insertAttempt, insertRun, openDatabase, rowOf } from "../../../test/kit/store/store-rows.ts";
import { START_LEASE_MS } from "../lock-store.ts";
import { claimSending, currentAttempt, hasAttempt } from "../attempt-store.ts";
import { cancelHere } from "../cancel/cancel-store.ts";
import { saveInteractionId, unknownStartIn } from "../interaction-store.ts";
import { findFiles, releaseFiles } from "../file-store.ts";
import { loadMaterial } from "./load-material.ts";
import { commitIntent, pendingStarts, recordReturnedEnd, recordStartFailure } from "./start-store.ts";

const hashOf = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex");

describe("an intent", () => {
  test("is stored before anything is sent, with all that a later process needs (I8)", async () => {
    const db = await openDatabase({ stoppedAt: NOW });
    const { taskId, attemptId } = await intended(db);
    expect(await rowOf(db, taskId)).toMatchObject({
      owner: "local",
      kind: "agent",
      query: "How deep is the lake?",
      status: "pending",
      progress: 0,
      mode: "async",
      backend: "api",
      model: "an-agent",
      options_json: '{"max_wait_ms":1000}',
      join_key: "the-same",
      estimate_json: '{"usd":2}',
      client: "a-client",
      enable_notifications: 1,
      created_at: NOW,
      started_at: NOW,
      updated_at: NOW,
      deadline_at: NOW + 1_000,
      interaction_id: null,
      lease_owner: "me",
      lease_until: NOW + START_LEASE_MS,
      next_poll_at: null,
      keep_partial: 1,
      usage_final: 0,
    });
    expect(await attemptRow(db, attemptId)).toEqual({
      attempt_id: attemptId,
      task_id: taskId,
      interaction_id: null,
      state: "sending",
      created_at: NOW,
      sent_at: NOW,
      answered_at: null,
      key_fingerprint: "a-key",
      base_url: "https://google.test",
    });
    expect([await hasAttempt(db, attemptId), await hasAttempt(db, taskId)]).toEqual([true, false]);
  });

  test("needs neither a client, nor a key, nor a notification (I8)", async () => {
    const db = await openDatabase();
    const bare = { client: undefined, keyFingerprint: undefined, enableNotifications: false };
    const { taskId, attemptId } = await intended(db, bare);
    expect(await rowOf(db, taskId)).toMatchObject({ client: null, enable_notifications: 0 });
    expect(await attemptRow(db, attemptId)).toMatchObject({ key_fingerprint: null });
  });

  test("that was stored a moment ago is joined, unless a new one is requested (I9)", async () => {
    const db = await openDatabase();
    const { taskId } = await intended(db);
    expect(await commitIntent(db, INTENT, { join: true })).toEqual({ kind: "joined", taskId });
    expect((await intended(db, { joinKey: "another" })).taskId).not.toBe(taskId);
    expect((await intended(db, {}, false)).taskId).not.toBe(taskId);
  });
});

describe("an interaction id", () => {
  test("makes its run a polled one (I8)", async () => {
    const db = await openDatabase();
    const { taskId, attemptId } = await intended(db);
    expect(await saveInteractionId(db, { attemptId, interactionId: "v1_a", now: NOW + 5 })).toBe(true);
    expect(await rowOf(db, taskId)).toMatchObject({
      status: "running_async",
      interaction_id: "v1_a",
      next_poll_at: NOW + 5,
      last_event_at: NOW + 5,
      updated_at: NOW + 5,
      lease_until: null,
    });
    expect(await attemptRow(db, attemptId)).toMatchObject({
      interaction_id: "v1_a",
      state: "accepted",
      answered_at: NOW + 5,
    });
  });

  test("is never replaced by another, which is stored beside it, once (I8)", async () => {
    const db = await openDatabase();
    const { taskId, attemptId } = await intended(db);
    await saveInteractionId(db, { attemptId, interactionId: "v1_a", now: NOW });
    for (const interactionId of ["v1_a", "v1_b", "v1_b"])
      expect(await saveInteractionId(db, { attemptId, interactionId, now: NOW + 9 })).toBe(false);
    const kept = await db
      .selectFrom("research_attempts")
      .select(["task_id", "interaction_id", "state"])
      .orderBy("interaction_id")
      .execute();
    const { task_id: second } = await db
      .selectFrom("research_tasks")
      .select("task_id")
      .where("parent_task_id", "=", taskId)
      .executeTakeFirstOrThrow();
    expect(kept).toEqual([
      { task_id: taskId, interaction_id: "v1_a", state: "accepted" },
      { task_id: second, interaction_id: "v1_b", state: "accepted" },
    ]);
    expect(await rowOf(db, taskId)).toMatchObject({ interaction_id: "v1_a", updated_at: NOW });
    expect(await attemptRow(db, attemptId)).toMatchObject({ interaction_id: "v1_a" });
    expect(await saveInteractionId(db, { attemptId: "unknown attempt", interactionId: "v1_c", now: NOW })).toBe(false);
  });

  test("that arrives late is stored, and the run is no longer unknown (I8)", async () => {
    const db = await openDatabase();
    const { taskId, attemptId } = await intended(db);
    const other = await intended(db, { joinKey: "another" });
    await recordStartFailure(db, { taskId, attemptId, to: "start_unknown", error: ERROR, now: NOW });
    await saveInteractionId(db, { attemptId, interactionId: "v1_a", now: NOW + 5 });
    expect(await rowOf(db, taskId)).toMatchObject({
      status: "running_async",
      interaction_id: "v1_a",
      error_code: null,
      error_message: null,
    });
    expect(await rowOf(db, other.taskId)).toMatchObject({ status: "pending", interaction_id: null });
  });

  test("of an earlier attempt is stored with that attempt; the run keeps its own (I8)", async () => {
    const db = await openDatabase();
    const { taskId, attemptId: first } = await intended(db);
    await recordStartFailure(db, { taskId, attemptId: first, to: "start_unknown", error: ERROR, now: NOW });
    const second = await restart(db, taskId);
    await saveInteractionId(db, { attemptId: second?.attemptId ?? "", interactionId: "v1_second", now: NOW });
    expect(await saveInteractionId(db, { attemptId: first, interactionId: "v1_first", now: NOW })).toBe(true);
    expect(await attemptRow(db, first)).toMatchObject({ interaction_id: "v1_first" });
    expect(await rowOf(db, taskId)).toMatchObject({ interaction_id: "v1_first" });
    expect(await rowOf(db, second?.taskId ?? "")).toMatchObject({ interaction_id: "v1_second" });
  });

  test("of a run that was cancelled meanwhile is polled only if the cancel must still reach Google (L1)", async () => {
    const db = await openDatabase();
    const ended = { status: "cancelled", interaction_id: null, next_poll_at: null } as const;
    await insertRun(db, { task_id: "confirmed", ...ended, cancel_confirmed: 1 });
    await insertRun(db, { task_id: "unconfirmed", ...ended, cancel_confirmed: 0 });
    await insertRun(db, { task_id: "bystander", ...ended, cancel_confirmed: 0 });
    await insertRun(db, { task_id: "failed", ...ended, status: "failed", cancel_confirmed: 0 });
    for (const id of ["confirmed", "unconfirmed", "failed"]) {
      await insertAttempt(db, { attempt_id: `of ${id}`, task_id: id });
      await saveInteractionId(db, { attemptId: `of ${id}`, interactionId: `v1 ${id}`, now: NOW });
    }
    expect(await rowOf(db, "confirmed")).toMatchObject({ status: "cancelled", interaction_id: "v1 confirmed" });
    expect(await rowOf(db, "confirmed")).toMatchObject({ next_poll_at: null, updated_at: NOW });
    expect(await rowOf(db, "unconfirmed")).toMatchObject({ status: "cancelled", next_poll_at: NOW });
    expect(await rowOf(db, "failed")).toMatchObject({ status: "failed", next_poll_at: null });
    expect(await rowOf(db, "bystander")).toMatchObject({ interaction_id: null, next_poll_at: null });
  });
});

test("a start may be sent only by its own process, while it is pending, marked as sending and not cancelled (I8)", async () => {
  const db = await openDatabase();
  const own = { status: "pending", lease_owner: "me", lease_until: NOW } as const;
  const cases = {
    own: [own, {}],
    "being cancelled": [{ ...own, cancel_requested_at: NOW }, {}],
    cancelled: [{ ...own, status: "cancelled" }, {}],
    "another's": [{ ...own, lease_owner: "you" }, {}],
    "given up": [{ ...own, status: "start_unknown" }, { state: "unknown" }],
    restarted: [own, { state: "unknown" }],
    adopted: [
      { ...own, status: "running_async" },
      { interaction_id: "v1_a", state: "accepted" },
    ],
  } as const;
  const permissions: Record<string, string> = {};
  for (const [id, [run, attempt]] of Object.entries(cases)) {
    await insertRun(db, { task_id: id, ...run });
    await insertAttempt(db, { attempt_id: `of ${id}`, task_id: id, ...attempt });
    const claim = { taskId: id, attemptId: `of ${id}`, processId: "me", isCallCancelled: false, now: () => NOW + 7 };
    permissions[id] = await claimSending(db, claim);
  }
  expect(permissions).toEqual({
    own: "granted",
    "being cancelled": "cancelled",
    cancelled: "cancelled",
    "another's": "taken_over",
    "given up": "taken_over",
    restarted: "taken_over",
    adopted: "taken_over",
  });
  const unknown = { taskId: "own", attemptId: "none", processId: "me", isCallCancelled: false, now: () => NOW };
  expect(await claimSending(db, unknown)).toBe("taken_over");
  expect(await rowOf(db, "own")).toMatchObject({ lease_until: NOW + 7 + START_LEASE_MS });
  expect(await rowOf(db, "another's")).toMatchObject({ lease_until: NOW });
});

test("starts under way are agent runs that wait for Google's answer (I8)", async () => {
  const db = await openDatabase();
  const waiting = { status: "pending", lease_owner: "me", lease_until: NOW } as const;
  await insertRun(db, { task_id: "sent", ...waiting });
  await insertRun(db, { task_id: "ended", ...waiting, status: "failed" });
  await insertRun(db, { task_id: "answered", ...waiting });
  await insertRun(db, { task_id: "a search", ...waiting, kind: "search" });
  for (const id of ["sent", "ended", "a search"]) await insertAttempt(db, { attempt_id: `of ${id}`, task_id: id });
  await insertAttempt(db, { attempt_id: "of answered", task_id: "answered", state: "unknown" });
  expect(await pendingStarts(db)).toEqual([
    { taskId: "sent", attemptId: "of sent", leaseOwner: "me", leaseUntil: NOW },
  ]);
});

test("a start that was cancelled while being sent becomes unknown when its sender is gone (I8)", async () => {
  const db = await openDatabase();
  const { taskId, attemptId } = await intended(db);
  await cancelHere(db, { taskId, confirmed: false, keepPartial: true, now: NOW });
  expect(await pendingStarts(db)).toEqual([{ taskId, attemptId, leaseOwner: "me", leaseUntil: NOW + START_LEASE_MS }]);
  await recordStartFailure(db, { taskId, attemptId, to: "start_unknown", error: ERROR, now: NOW });
  expect(await pendingStarts(db)).toEqual([]);
  expect(await rowOf(db, taskId)).toMatchObject({ status: "cancelled" });
  expect(await unknownStartIn(db, taskId)).toBe(taskId);
});

test("the current attempt is the newest attempt of its own run (Q1)", async () => {
  const db = await openDatabase();
  for (const id of ["a", "b"]) await insertRun(db, { task_id: id });
  for (const [at, id] of [
    [2, "newer"],
    [1, "older"],
  ] as const) {
    await insertAttempt(db, { attempt_id: id, task_id: "a", created_at: at });
  }
  await insertAttempt(db, { attempt_id: "another's", task_id: "b", created_at: 3 });
  expect(await currentAttempt(db, "a")).toMatchObject({ attempt_id: "newer" });
});

test("a run is synchronous if it completes while its caller waits (I4)", async () => {
  const db = await openDatabase();
  const before = { mode: "async" };
  for (const id of ["a", "b"]) await insertRun(db, { task_id: id, ...before, status: "completed" });
  await insertRun(db, { task_id: "goes on", ...before });
  for (const id of ["a", "goes on"]) await recordReturnedEnd(db, id);
  expect(await rowOf(db, "a")).toMatchObject({ mode: "sync" });
  expect(await rowOf(db, "b")).toMatchObject(before);
  expect(await rowOf(db, "goes on")).toMatchObject(before);
});

test("a start whose call waits stores until when; one that returns at once does not (O1)", async () => {
  const db = await openDatabase();
  for (const [query, callerWaitsMs] of [
    ["waits", 28_000],
    ["returns at once", 0],
  ] as const) {
    await commitIntent(db, { ...INTENT, query, joinKey: query, callerWaitsMs }, { join: true });
  }
  const rows = await db.selectFrom("research_tasks").select(["query", "caller_waits_until"]).orderBy("query").execute();
  expect(rows).toEqual([
    { query: "returns at once", caller_waits_until: null },
    { query: "waits", caller_waits_until: INTENT.now + 28_000 },
  ]);
});

describe("the files of an intent", () => {
  const content = Buffer.from("a,b\n1,2\n");
  const file = { name: "a.csv", kind: "csv" as const, bytes: content.length, sha256: hashOf(content) };
  const unconfigured = (): never => {
    throw new Error("No server is needed.");
  };

  test("are kept while it may have to be sent again, and deleted once it is decided (V3)", async () => {
    const db = await openDatabase();
    const { taskId, attemptId } = await intended(db, { files: [{ ...file, content }] });
    const deps = { db, mcpServer: unconfigured };
    await recordStartFailure(db, { taskId, attemptId, to: "start_unknown", error: ERROR, now: NOW + 5 });
    await releaseFiles(db);
    expect(await loadMaterial(deps, taskId, { files: [file] })).toMatchObject({
      kind: "loaded",
      files: [{ name: "a.csv", content: expect.objectContaining({ length: content.length }) }],
    });
    expect(await loadMaterial(deps, taskId, { files: [{ ...file, sha256: "00" }] })).toMatchObject({
      kind: "refused",
      error: { message: expect.stringMatching(/damaged.*not sent and nothing was charged/) },
    });
    await saveInteractionId(db, { attemptId, interactionId: "v1_files", now: NOW + 9 });
    await releaseFiles(db);
    expect(await findFiles(db, taskId)).toEqual([]);
    expect(await loadMaterial(deps, taskId, { files: [file] })).toMatchObject({ kind: "refused" });
  });
});
