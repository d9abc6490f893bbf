/** Which process holds a run, what a poll may still write, and the rate that streams share with polls. */

import { expect, test } from "vitest";
import { insertRun, openDatabase, rowOf } from "../../../test/kit/store/store-rows.ts";
import { localQueue } from "../../queue/local.ts";
import { FIRST_TURN } from "../plan/run-plan.ts";
import {
  claimWithinRateLimit,
  isRunningAtGoogle,
  nextClaimAt,
  permitStream,
  pollNow,
  rateOf,
  runHolders,
  settlePoll,
  unfinishedInteractions,
} from "./claim-store.ts";

const NOW = 1_000_000;
const LATER = NOW + 10_000;

test("a process holds what it starts, executes or polls, and nothing that has ended or was released (P2)", async () => {
  const db = await openDatabase();
  const polled = { next_poll_at: LATER, lease_until: LATER };
  await insertRun(db, { task_id: "start", status: "pending", lease_owner: "starts" });
  await insertRun(db, { task_id: "search", status: "running", lease_owner: "executes" });
  await insertRun(db, { task_id: "poll", lease_owner: "polls", ...polled });
  await insertRun(db, { task_id: "second", lease_owner: "polls", ...polled });
  await insertRun(db, { task_id: "no owner", lease_owner: null, ...polled });
  await insertRun(db, { task_id: "released", lease_owner: "released", next_poll_at: LATER });
  await insertRun(db, { task_id: "not polled", lease_owner: "not polling", lease_until: LATER });
  await insertRun(db, { task_id: "ended", status: "failed", lease_owner: "ended" });
  expect((await runHolders(db)).toSorted()).toEqual(["executes", "polls", "starts"]);
});

test("what a poll saw is stored with its release, unless the run has ended or has a newer claim (P2)", async () => {
  const db = await openDatabase();
  const held = { next_poll_at: NOW, lease_epoch: 4, lease_until: LATER, progress: 40, current_action: "Reading" };
  await insertRun(db, { task_id: "mine", ...held });
  await insertRun(db, { task_id: "taken over", ...held, lease_epoch: 5 });
  await insertRun(db, { task_id: "ended", ...held, status: "cancelled" });
  await insertRun(db, { task_id: "not polled", ...held, next_poll_at: null });
  const seen = {
    progress: 60,
    currentAction: "Writing",
    changed: true,
    tokens: { input: 7, output: 3 },
    cost: undefined,
    now: NOW,
  };
  for (const taskId of ["mine", "taken over", "ended", "not polled"])
    await settlePoll(db, { taskId, epoch: 4 }, { nextPollAt: LATER, seen });
  expect(await rowOf(db, "mine")).toMatchObject({
    progress: 60,
    current_action: "Writing",
    last_event_at: NOW,
    tokens_input: 7,
    next_poll_at: LATER,
    lease_until: null,
  });
  expect(await rowOf(db, "taken over")).toMatchObject({ ...held, lease_epoch: 5 });
  expect(await rowOf(db, "ended")).toMatchObject(held);
  expect(await rowOf(db, "not polled")).toMatchObject({ ...held, next_poll_at: null });
  await settlePoll(db, { taskId: "mine", epoch: 4 }, { seen: { ...seen, progress: 20 } });
  expect(await rowOf(db, "mine")).toMatchObject({ progress: 60, next_poll_at: LATER });
});

test("a run is running at Google only while Google works on it (J2)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "at Google" });
  await insertRun(db, { task_id: "ended", status: "completed" });
  const ids = ["at Google", "ended", "deleted"];
  expect(await Promise.all(ids.map((id) => isRunningAtGoogle(db, id)))).toEqual([true, false, false]);
});

test("a stream counts against the rate of polls, whatever the key of its run (P4)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  await insertRun(db, { task_id: "a", next_poll_at: 0 });
  expect(await nextClaimAt(db, NOW)).toBe(NOW);
  const stream = { maxRps: 2, key: "a-key", now: NOW };
  expect(await permitStream(db, stream)).toBe(0);
  expect(await permitStream(db, { ...stream, key: undefined })).toBe(500);
  const claim = { processId: "me", limit: 1, maxRps: 2, nextPollAt: LATER };
  expect(await claimWithinRateLimit(db, { ...claim, now: NOW + 999 })).toEqual([]);
  expect(await claimWithinRateLimit(db, { ...claim, now: NOW + 1_000 })).toHaveLength(1);
});

test("only on a shared database has each key a rate of its own (P4)", () => {
  const on = (adapter: { supportsMultipleConnections: boolean }) => ({ getExecutor: () => ({ adapter }) });
  const [file, shared] = [on({ supportsMultipleConnections: false }), on({ supportsMultipleConnections: true })];
  expect([rateOf(shared, "one"), rateOf(shared, "two"), rateOf(shared, undefined)]).toEqual([
    "polls:one",
    "polls:two",
    "polls",
  ]);
  expect(new Set([rateOf(file, "one"), rateOf(file, "two"), rateOf(file, undefined)])).toEqual(new Set(["polls"]));
});

test("with pg-boss its job is made due; a run that has ended needs none, and its row is not changed (P2)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "at Google", poll_key: "a-key", next_poll_at: LATER });
  await insertRun(db, { task_id: "ended", status: "failed", poll_key: "a-key" });
  const polls: unknown[] = [];
  const queue = { ...localQueue, usesPgBoss: true, pollNow: async (poll: unknown) => polls.push(poll) > 1 };
  expect(await pollNow({ db, queue }, "ended")).toBe(true);
  expect(await pollNow({ db, queue }, "at Google")).toBe(false);
  expect(await pollNow({ db, queue }, "at Google")).toBe(true);
  const poll = { taskId: "at Google", key: "a-key" };
  expect(polls).toEqual([poll, poll]);
  expect(await rowOf(db, "at Google")).toMatchObject({ next_poll_at: LATER });
  expect(await pollNow({ db, queue: localQueue }, "at Google")).toBe(true);
});

test("an interaction is read during an outage with what it writes (P5)", async () => {
  const db = await openDatabase();
  const plans = {
    plain: null,
    planning: JSON.stringify(FIRST_TURN),
    research: JSON.stringify({ ...FIRST_TURN, isPlanning: false }),
  };
  for (const [id, plan_json] of Object.entries(plans)) await insertRun(db, { task_id: id, plan_json });
  const read = await unfinishedInteractions(db, 10);
  expect(Object.fromEntries(read.map(({ taskId, isPlanning }) => [taskId, isPlanning]))).toEqual({
    plain: undefined,
    planning: true,
    research: false,
  });
});
