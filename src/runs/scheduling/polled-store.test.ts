import { expect, test } from "vitest";
import { insertAttempt, insertCost, insertRun, openDatabase, rowOf } from "../../../test/kit/store/store-rows.ts";
import { isDeletable } from "../deletion/deletion-store.ts";
import { recordSeen } from "../poll/seen-store.ts";
import { polledRunOf } from "../run-row.ts";
import { readFleetStatus } from "./fleet-status-store.ts";
import {
  countByOwner,
  countPolledRuns,
  endPolling,
  isRunningAtGoogle,
  pollNow,
  readPolledRuns,
  runHolders,
  unfinishedInteractions,
} from "./polled-store.ts";

const NOW = 1_000_000;
const LATER = NOW + 10_000;
const HOUR = 3_600_000;

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

test("a run is read with what a poll needs; empty columns mean no deadline, and the end is the creation (P2)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "a", next_poll_at: 0, created_at: 5, keep_partial: 0, status: "failed" });
  await insertRun(db, { task_id: "no id", next_poll_at: 0, interaction_id: null });
  await insertRun(db, { task_id: "not polled", next_poll_at: null });
  const rows = await readPolledRuns(db, ["a", "no id", "not polled", "unknown"]);
  expect([...rows.values()].map(polledRunOf)).toMatchObject([
    { taskId: "a", status: "failed", deadlineAt: Number.MAX_SAFE_INTEGER, completedAt: 5 },
  ]);
  expect(await countPolledRuns(db, NOW)).toBe(1);
});

test("of the runs that have ended, those whose report may still arrive are polled, counted and kept like running ones (P6, P2)", async () => {
  const db = await openDatabase();
  // The status of the fleet is read at the time of the database.
  const now = Date.now();
  const ended = {
    status: "failed",
    next_poll_at: now,
    deadline_at: now - HOUR,
    completed_at: now - HOUR,
    owner: "late",
  } as const;
  const forUsage = {
    "long ago": {},
    completed: { status: "completed", deadline_at: now + HOUR, cancel_confirmed: 0 },
  } as const;
  const forReport = {
    reopened: { deadline_at: now + HOUR },
    unconfirmed: { status: "cancelled", cancel_confirmed: 0, deadline_at: now + HOUR },
  } as const;
  for (const [task_id, columns] of Object.entries({ ...forUsage, ...forReport })) {
    await insertRun(db, { task_id, ...ended, ...columns });
  }
  await insertRun(db, { task_id: "running", next_poll_at: now + HOUR });
  expect(await countPolledRuns(db, now)).toBe(3);
  const runsOf = await countByOwner(db, { key: "a-key", now });
  expect(runsOf).toEqual(
    new Map([
      ["late", 2],
      ["local", 1],
    ]),
  );
  expect((await readFleetStatus(db, now)).runs.inProgress).toBe(3);
  const deletable = (taskId: string) => isDeletable(db, { taskIds: [taskId], now });
  for (const taskId of Object.keys(forUsage)) expect(await deletable(taskId)).toBe(true);
  for (const taskId of [...Object.keys(forReport), "running"]) expect(await deletable(taskId)).toBe(false);
});

test("the usage of a run that has just ended is waited for (P6, P2)", async () => {
  const db = await openDatabase();
  const now = 10 * HOUR;
  const ended = { status: "completed", next_poll_at: now, deadline_at: now } as const;
  await insertRun(db, { task_id: "just now", ...ended, completed_at: now - 1_000 });
  await insertRun(db, { task_id: "long ago", ...ended, completed_at: now - HOUR });
  expect(await countPolledRuns(db, now)).toBe(1);
});

const COST = { incomplete: false, estimated: false };

test("what polls saw is stored in one statement: progress never falls, and a run that has ended is unchanged (P2)", async () => {
  const db = await openDatabase();
  const before = { progress: 40, current_action: "Reading", next_poll_at: LATER };
  for (const id of ["ahead", "behind"]) await insertRun(db, { task_id: id, ...before });
  await insertRun(db, { task_id: "ended", ...before, status: "cancelled" });
  for (const [task_id, settled] of [
    ["ahead", undefined],
    ["ended", { ...COST, usd: 2 }],
  ] as const) {
    await insertAttempt(db, { attempt_id: task_id, task_id, interaction_id: `v1_${task_id}`, state: "accepted" });
    await insertCost(db, { task_id, entryId: task_id, cost: settled });
  }
  const seen = {
    progress: 60,
    currentAction: "Writing",
    changed: true,
    tokens: { input: 7, output: 3 },
    cost: { ...COST, usd: 0.25, incomplete: true },
    now: NOW,
  };
  await recordSeen(db, [
    { taskId: "ahead", seen },
    { taskId: "behind", seen: { progress: 20, obstacle: { kind: "failing" }, changed: false, now: NOW } },
    { taskId: "ended", seen },
  ]);
  expect(await rowOf(db, "ahead")).toMatchObject({
    progress: 60,
    current_action: "Writing",
    last_event_at: NOW,
    tokens_input: 7,
    cost_micros: 250_000,
    cost_incomplete: 1,
    obstacle: null,
    next_poll_at: LATER,
  });
  const unchanged = { current_action: "Reading", last_event_at: null, tokens_input: 0 };
  expect(await rowOf(db, "behind")).toMatchObject({ ...unchanged, progress: 40, updated_at: NOW, obstacle: "failing" });
  // Its cost is final.
  expect(await rowOf(db, "ended")).toMatchObject({ ...before, ...unchanged, cost_micros: 2_000_000 });
});

test("polling ends, unless the run was reopened or got another interaction meanwhile (P2)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "ends", next_poll_at: NOW, deadline_at: 4 });
  await insertRun(db, { task_id: "reopened", next_poll_at: NOW, deadline_at: 5 });
  await insertRun(db, { task_id: "other", next_poll_at: NOW, deadline_at: 4, interaction_id: "v1_another" });
  const ids = ["ends", "reopened", "other"];
  await endPolling(
    db,
    ids.map((task_id) => ({ task_id, deadline_at: 4, interaction_id: `v1_${task_id}` })),
  );
  expect(await rowOf(db, "ends")).toMatchObject({ next_poll_at: null });
  for (const id of ["reopened", "other"]) expect(await rowOf(db, id)).toMatchObject({ next_poll_at: NOW });
});

test("a run is running at Google only while Google works on it (J2)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "at Google" });
  await insertRun(db, { task_id: "ended", status: "completed" });
  const ids = ["at Google", "ended", "deleted"];
  expect(await Promise.all(ids.map((id) => isRunningAtGoogle(db, id)))).toEqual([true, false, false]);
});

test("a run that a caller waits for is hastened with its key; one that has ended needs no poll (P2)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "at Google", poll_key: "a-key", next_poll_at: LATER });
  await insertRun(db, { task_id: "ended", status: "failed", poll_key: "a-key" });
  const hastened: unknown[] = [];
  const hasten = async (due: unknown): Promise<boolean> => hastened.push(due) > 1;
  const none = async (): Promise<never> => Promise.reject(new Error("not called"));
  const queue = { hasten, schedule: none, work: none, settle: none, close: none };
  expect(await pollNow({ db, queue }, "ended")).toBe(true);
  expect(await pollNow({ db, queue }, "at Google")).toBe(false);
  expect(await pollNow({ db, queue }, "at Google")).toBe(true);
  const due = { taskId: "at Google", key: "a-key" };
  expect(hastened).toEqual([due, due]);
});

test("unfinished interactions can be read while the database refuses writes, the longest due first (P5)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "b", next_poll_at: 2, enable_notifications: 0 });
  await insertRun(db, { task_id: "a", next_poll_at: 1 });
  await insertRun(db, { task_id: "third", next_poll_at: 3 });
  await insertRun(db, { task_id: "ended", next_poll_at: 0, status: "completed" });
  await insertRun(db, { task_id: "no id", next_poll_at: 0, interaction_id: null });
  expect(await unfinishedInteractions(db, 2)).toMatchObject([
    { taskId: "a", interactionId: "v1_a", enableNotifications: true },
    { taskId: "b", interactionId: "v1_b", enableNotifications: false },
  ]);
});
