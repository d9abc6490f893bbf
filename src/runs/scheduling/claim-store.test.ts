/** Claims and leases of polled runs, on a real database. */

import { describe, expect, test } from "vitest";
import { setClock } from "../../../test/kit/store/databases.ts";
import { insertRun, openDatabase, rowOf } from "../../../test/kit/store/store-rows.ts";
import { localQueue } from "../../queue/local.ts";
import type { Database } from "../../store/database.ts";
import {
  resetFarPolls,
  claimDueRuns,
  claimWithinRateLimit,
  countPolledRuns,
  leaseHolders,
  nextClaimAt,
  pauseAllPolls,
  pollNow,
  releaseFrom,
  settlePoll,
  unfinishedInteractions,
} from "./claim-store.ts";
import { POLL_LEASE_MS } from "../lease.ts";

const NOW = 1_000_000;
const LATER = NOW + 10_000;

const claim = (db: Database, { limit = 10, now = NOW }: { limit?: number; now?: number } = {}) =>
  claimDueRuns(db, { processId: "me", limit, now, nextPollAt: LATER });
const idsOf = (runs: { taskId: string }[]): string[] => runs.map(({ taskId }) => taskId).toSorted();

describe("a claim", () => {
  test("takes one run of every owner before a second run of any, and the longest due run of each (P2)", async () => {
    const db = await openDatabase();
    for (let n = 0; n < 30; n += 1) await insertRun(db, { task_id: `many ${n}`, owner: "many", next_poll_at: n });
    for (const n of [1, 2]) await insertRun(db, { task_id: `few ${n}`, owner: "few", next_poll_at: NOW - 10 + n });
    await insertRun(db, { task_id: "one", owner: "one", next_poll_at: NOW });
    expect(idsOf(await claim(db, { limit: 3 }))).toEqual(["few 1", "many 0", "one"]);
    expect(idsOf(await claim(db, { limit: 4 }))).toEqual(["few 2", "many 1", "many 2", "many 3"]);
  });

  test("takes the lease of a due run, raises its epoch and sets its next poll (P2)", async () => {
    const db = await openDatabase();
    await insertRun(db, {
      task_id: "a",
      model: "an-agent",
      next_poll_at: NOW,
      lease_epoch: 7,
      created_at: 5,
      completed_at: 9,
      deadline_at: 77,
      cancel_requested_at: 66,
      progress: 40,
      current_action: "Reading",
    });
    expect(await claim(db)).toEqual([
      {
        taskId: "a",
        owner: "local",
        query: "How deep is the lake?",
        interactionId: "v1_a",
        status: "running_async",
        agent: "an-agent",
        epoch: 8,
        createdAt: 5,
        deadlineAt: 77,
        cancelRequestedAt: 66,
        keepPartial: true,
        progress: 40,
        currentAction: "Reading",
        completedAt: 9,
        oddAnswer: undefined,
        tokens: { input: 0, output: 0 },
      },
    ]);
    expect(await rowOf(db, "a")).toMatchObject({
      lease_owner: "me",
      lease_epoch: 8,
      lease_until: NOW + POLL_LEASE_MS,
      next_poll_at: LATER,
    });
    expect(await claim(db)).toEqual([]);
  });

  test("of a run with empty columns has no deadline and takes its creation as its end (P2)", async () => {
    const db = await openDatabase();
    await insertRun(db, { task_id: "a", next_poll_at: 0, created_at: 5, keep_partial: 0, status: "failed" });
    expect(await claim(db)).toMatchObject([
      {
        status: "failed",
        agent: "",
        deadlineAt: Number.MAX_SAFE_INTEGER,
        cancelRequestedAt: undefined,
        keepPartial: false,
        currentAction: undefined,
        completedAt: 5,
      },
    ]);
  });

  test("skips runs that are not due, have no interaction id or are leased to another process (P2)", async () => {
    const db = await openDatabase();
    await insertRun(db, { task_id: "not followed", next_poll_at: null });
    await insertRun(db, { task_id: "not due", next_poll_at: NOW + 1 });
    await insertRun(db, { task_id: "no id", next_poll_at: 0, interaction_id: null });
    await insertRun(db, { task_id: "leased", next_poll_at: 0, lease_until: NOW + 1 });
    await insertRun(db, { task_id: "leased for long", next_poll_at: 0, lease_until: NOW + 2 * POLL_LEASE_MS });
    await insertRun(db, { task_id: "lease expired", next_poll_at: 0, lease_until: NOW });
    await insertRun(db, { task_id: "clock set back", next_poll_at: 0, lease_until: NOW + 2 * POLL_LEASE_MS + 1 });
    expect(idsOf(await claim(db))).toEqual(["clock set back", "lease expired"]);
    expect((await rowOf(db, "leased")).lease_epoch).toBe(1);
  });

  test("takes the longest due runs first, and no more than its limit (P2)", async () => {
    const db = await openDatabase();
    for (const [index, id] of ["c", "a", "b"].entries()) await insertRun(db, { task_id: id, next_poll_at: index });
    expect(idsOf(await claim(db, { limit: 2 }))).toEqual(["a", "c"]);
    expect(idsOf(await claim(db, { limit: 2 }))).toEqual(["b"]);
  });
});

describe("permits to poll", () => {
  const inTurn = async (db: Database, { now, limit = 10 }: { now: number; limit?: number }) => {
    await setClock(db, now);
    return claimWithinRateLimit(db, { processId: "me", limit, maxRps: 2, now, nextPollAt: LATER });
  };

  test("are limited for all processes together (P2)", async () => {
    const db = await openDatabase({ stoppedAt: NOW });
    for (const id of ["a", "b", "c"]) await insertRun(db, { task_id: id, next_poll_at: 0 });
    expect(await inTurn(db, { now: NOW, limit: 0 })).toEqual([]);
    expect(await inTurn(db, { now: NOW })).toHaveLength(1);
    expect(await inTurn(db, { now: NOW })).toEqual([]);
    expect(await nextClaimAt(db, NOW)).toBeGreaterThan(NOW);
    expect(await inTurn(db, { now: NOW + 500 })).toHaveLength(1);
    expect(await inTurn(db, { now: NOW + 5_000, limit: 1 })).toHaveLength(1);
  });

  test("are not spent when no run is due (P2)", async () => {
    const db = await openDatabase({ stoppedAt: NOW });
    expect(await inTurn(db, { now: NOW })).toEqual([]);
    await insertRun(db, { task_id: "a", next_poll_at: 0 });
    expect(await inTurn(db, { now: NOW })).toHaveLength(1);
  });

  test("are withheld during a pause that Google asked for (P4)", async () => {
    const db = await openDatabase({ stoppedAt: NOW });
    await insertRun(db, { task_id: "a", next_poll_at: NOW });
    await pauseAllPolls(db, { ms: 3_000, now: NOW });
    expect(await inTurn(db, { now: NOW + 2_999 })).toEqual([]);
    await setClock(db, NOW);
    expect(await nextClaimAt(db, NOW)).toBe(NOW + 3_000);
    expect(await inTurn(db, { now: NOW + 3_000 })).toHaveLength(1);
  });
});

test("the next poll is due with the first due run that no process has leased (P2)", async () => {
  const db = await openDatabase();
  expect(await nextClaimAt(db, NOW)).toBeUndefined();
  await insertRun(db, { task_id: "not followed", next_poll_at: null });
  expect(await nextClaimAt(db, NOW)).toBeUndefined();
  expect(await countPolledRuns(db)).toBe(0);
  await insertRun(db, { task_id: "later", next_poll_at: NOW + 900 });
  await insertRun(db, { task_id: "soon", next_poll_at: NOW + 500 });
  await insertRun(db, { task_id: "leased", next_poll_at: NOW, lease_until: NOW + 1_000 });
  expect(await nextClaimAt(db, NOW)).toBe(NOW + 500);
  expect(await countPolledRuns(db)).toBe(3);
});

describe("settling a poll", () => {
  test("changes only the run it is for, and only with the newest epoch of its lease (P2)", async () => {
    const db = await openDatabase();
    const held = { next_poll_at: NOW, lease_epoch: 4, lease_until: LATER };
    for (const id of ["a", "b"]) await insertRun(db, { task_id: id, ...held });
    await settlePoll(db, { taskId: "a", epoch: 3 }, { nextPollAt: LATER });
    await settlePoll(db, { taskId: "a", epoch: 3 });
    expect(await rowOf(db, "a")).toMatchObject(held);
    await settlePoll(db, { taskId: "a", epoch: 4 });
    expect(await rowOf(db, "a")).toMatchObject({ next_poll_at: NOW, lease_until: null });
    await settlePoll(db, { taskId: "a", epoch: 4 }, { nextPollAt: LATER });
    expect(await rowOf(db, "a")).toMatchObject({ next_poll_at: LATER, lease_until: null });
    expect(await rowOf(db, "b")).toMatchObject(held);
    await settlePoll(db, { taskId: "b", epoch: 4 }, { nextPollAt: null });
    expect(await rowOf(db, "b")).toMatchObject({ next_poll_at: null, lease_until: null });
  });

  test("of a dead process releases the runs that were leased to it at once (P2)", async () => {
    const db = await openDatabase();
    const held = { next_poll_at: LATER, lease_until: LATER };
    await insertRun(db, { task_id: "its", lease_owner: "dead", ...held });
    await insertRun(db, { task_id: "another's", lease_owner: "alive", ...held });
    await insertRun(db, { task_id: "released", lease_owner: "dead", next_poll_at: LATER });
    await insertRun(db, { task_id: "a start", lease_owner: "dead", lease_until: LATER });
    await insertRun(db, { task_id: "without holder", lease_owner: null, ...held });
    await insertRun(db, { task_id: "its too", lease_owner: "dead", ...held });
    expect((await leaseHolders(db)).toSorted()).toEqual(["alive", "dead"]);
    expect(await releaseFrom(db, [], NOW)).toBe(0);
    expect(await releaseFrom(db, ["dead"], NOW)).toBe(2);
    expect(await rowOf(db, "its")).toMatchObject({ next_poll_at: NOW, lease_until: null });
    expect(await rowOf(db, "another's")).toMatchObject(held);
    expect(await rowOf(db, "released")).toMatchObject({ next_poll_at: LATER });
    expect(await rowOf(db, "a start")).toMatchObject({ next_poll_at: null, lease_until: LATER });
    expect(await leaseHolders(db)).toEqual(["alive"]);
  });
});

test("a poll scheduled before the clock was set back is due now, later ones stay (P2)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "far", next_poll_at: LATER + 1 });
  await insertRun(db, { task_id: "near", next_poll_at: LATER });
  await resetFarPolls(db, { now: NOW, latest: LATER + 1 });
  expect(await rowOf(db, "far")).toMatchObject({ next_poll_at: LATER + 1 });
  await resetFarPolls(db, { now: NOW, latest: LATER });
  expect(await rowOf(db, "far")).toMatchObject({ next_poll_at: NOW });
  expect(await rowOf(db, "near")).toMatchObject({ next_poll_at: LATER });
});

test("a run that a caller waits for is polled first while Google works on it (P2)", async () => {
  const db = await openDatabase();
  for (const id of ["a", "b"]) await insertRun(db, { task_id: id, next_poll_at: LATER });
  await insertRun(db, { task_id: "ended", status: "failed", next_poll_at: null });
  for (const id of ["a", "ended"]) await pollNow({ db, queue: localQueue }, id);
  expect(await rowOf(db, "a")).toMatchObject({ next_poll_at: 0 });
  expect(await rowOf(db, "b")).toMatchObject({ next_poll_at: LATER });
  expect(await rowOf(db, "ended")).toMatchObject({ next_poll_at: null });
});

test("unfinished interactions can be read while the database refuses writes, the longest due first (P5)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "b", next_poll_at: 2, enable_notifications: 0 });
  await insertRun(db, { task_id: "a", next_poll_at: 1 });
  await insertRun(db, { task_id: "third", next_poll_at: 3 });
  await insertRun(db, { task_id: "ended", next_poll_at: 0, status: "completed" });
  await insertRun(db, { task_id: "no id", next_poll_at: 0, interaction_id: null });
  const query = "How deep is the lake?";
  expect(await unfinishedInteractions(db, 2)).toEqual([
    { taskId: "a", query, interactionId: "v1_a", enableNotifications: true },
    { taskId: "b", query, interactionId: "v1_b", enableNotifications: false },
  ]);
});
