/** Which runs and related rows retention deletes, on both databases. */

import { expect, test } from "vitest";
import { insertAttempt, insertRun, openDatabase } from "../../../test/kit/store/store-rows.ts";
import { systemClock } from "../../platform/clock.ts";
import type { Database } from "../../store/database.ts";
import { appendEvents } from "../event-store.ts";
import { finishRun } from "../run-store.ts";
import { NO_COST } from "../../costs/actual.ts";
import { deleteRun, TABLES_OF_A_RUN } from "./deletion-store.ts";
import { reserve } from "../ledger/ledger-store.ts";
import { deleteExpiredRuns, startRetention } from "./retention.ts";
import { silentLog as log } from "../../../test/kit/log.ts";

const DAY_MS = 86_400_000;
const NOW = 1_000 * DAY_MS;
const clock = { ...systemClock, now: () => NOW, sleep: async () => {} };
const leaving = new AbortController().signal;
const removeBackups = async (): Promise<void> => {};

test("finished runs are deleted with all their rows after the retention time; unfinished and unknown ones stay (T-2)", async () => {
  const db = await openDatabase();
  const withoutBackup = new Set<string>();
  const removed = async (taskIds: ReadonlySet<string>): Promise<void> => taskIds.forEach((id) => withoutBackup.add(id));
  const sweep = (keepDays: number) => deleteExpiredRuns({ db, clock, log, removeBackups: removed, keepDays, leaving });
  const old = { completed_at: NOW - 731 * DAY_MS };
  await insertRun(db, { task_id: "parent", status: "running", lease_owner: "p" });
  await finishRun(db, {
    taskId: "parent",
    processId: "p",
    to: "completed",
    result: { report: "Deep.", sources: [], metadata: {}, partial: false },
    error: undefined,
    backend: "api",
    model: "m",
    tokens: { input: 1, output: 1 },
    cost: NO_COST,
    usageFinal: true,
    now: old.completed_at,
  });
  await insertAttempt(db, { attempt_id: "a", task_id: "parent", state: "accepted", interaction_id: "v1_parent" });
  await appendEvents(db, "parent", [{ kind: "thought", text: "t", at: 1 }]);
  await insertRun(db, { task_id: "child", status: "completed", parent_task_id: "parent", completed_at: NOW });
  await insertRun(db, { task_id: "young", status: "completed", completed_at: NOW - 729 * DAY_MS, updated_at: NOW });
  await insertRun(db, { task_id: "open", status: "running_async" });
  await insertRun(db, { task_id: "followed", status: "cancelled", next_poll_at: NOW, ...old });
  await insertRun(db, { task_id: "unknown", status: "cancelled", interaction_id: null, ...old });
  await insertAttempt(db, { attempt_id: "u", task_id: "unknown", state: "unknown", created_at: NOW - 59 * DAY_MS });
  await insertRun(db, { task_id: "start", status: "start_unknown", interaction_id: null, updated_at: NOW - DAY_MS });
  await insertAttempt(db, { attempt_id: "s", task_id: "start", state: "unknown", created_at: NOW - 61 * DAY_MS });
  expect(await sweep(0)).toBe(0);
  expect(await sweep(730)).toBe(1);
  expect([...withoutBackup]).toEqual(["parent"]);
  const left = await db.selectFrom("research_tasks").select(["task_id", "parent_task_id"]).orderBy("task_id").execute();
  expect(left.map(({ task_id }) => task_id)).toEqual(["child", "followed", "open", "start", "unknown", "young"]);
  expect(left[0]).toMatchObject({ parent_task_id: null });
  for (const table of TABLES_OF_A_RUN) {
    expect(await db.selectFrom(table).select("task_id").where("task_id", "=", "parent").execute()).toEqual([]);
  }
  expect(await db.selectFrom("research_search").select("task_id").execute()).toEqual([]);
});

test("a start whose id can no longer be found is deleted after the retention time, and stays until then (I8, T-2)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "newest", updated_at: NOW });
  const old = { status: "start_unknown", interaction_id: null, updated_at: NOW - 40 * DAY_MS } as const;
  for (const [id, days] of [
    ["findable", 59],
    ["lost", 61],
  ] as const) {
    await insertRun(db, { task_id: id, ...old });
    await insertAttempt(db, { attempt_id: id, task_id: id, state: "unknown", created_at: NOW - days * DAY_MS });
  }
  expect(await deleteExpiredRuns({ db, clock, log, removeBackups, keepDays: 30, leaving })).toBe(1);
  expect((await db.selectFrom("research_attempts").select("task_id").execute())[0]?.task_id).toBe("findable");
});

test("a clock that is years ahead deletes nothing (T-2)", async () => {
  const db = await openDatabase();
  const ago = (days: number) => ({ completed_at: NOW - days * DAY_MS, updated_at: NOW - days * DAY_MS });
  await insertRun(db, { task_id: "recent", status: "completed", ...ago(2) });
  await insertRun(db, { task_id: "older", status: "completed", ...ago(700) });
  await insertRun(db, { task_id: "too old", status: "completed", ...ago(740) });
  const ahead = { ...clock, now: () => NOW + 1_000 * DAY_MS };
  expect(await deleteExpiredRuns({ db, clock: ahead, log, removeBackups, keepDays: 730, leaving })).toBe(1);
  expect(await db.selectFrom("research_tasks").select("task_id").orderBy("task_id").execute()).toEqual([
    { task_id: "older" },
    { task_id: "recent" },
  ]);
});

test("a notification that belongs to no run, and names its question, is deleted after 7 days, sent or not (T-2)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "run" });
  const row = (task_id: string | null, days: number) => ({
    task_id,
    channel: "desktop",
    kind: `not_started 1 ${days}`,
    payload_json: JSON.stringify({ title: "Research", body: "How deep is the lake?" }),
    created_at: NOW - days * DAY_MS,
  });
  const sent = { ...row(null, 8), sent_at: NOW - 8 * DAY_MS };
  await db
    .insertInto("notification_outbox")
    .values([row("run", 9), row(null, 6)])
    .execute();
  await db.insertInto("notification_outbox").values(sent).execute();
  await db.insertInto("notification_outbox").values(row(null, 10)).execute();
  const leave = new AbortController();
  const deps = { db, clock, log, removeBackups, removeCopies: async () => {}, leaving: leave.signal };
  const sweeps: Promise<unknown>[] = [];
  // Also where runs are never deleted.
  startRetention({ ...deps, keepDays: 0 }, async (work) => void sweeps.push(work));
  await Promise.all(sweeps);
  leave.abort();
  const left = db.selectFrom("notification_outbox").select("kind").orderBy("outbox_id");
  expect(await left.execute()).toEqual([{ kind: "not_started 1 9" }, { kind: "not_started 1 6" }]);
});

test("one rule decides what may be deleted; what may not be deleted keeps its timeline (T-2)", async () => {
  const db = await openDatabase();
  const polled = { next_poll_at: NOW, completed_at: 1 };
  await insertRun(db, { task_id: "unconfirmed", status: "cancelled", cancel_confirmed: 0, ...polled });
  await insertRun(db, { task_id: "reopened", status: "failed", ...polled });
  await insertRun(db, { task_id: "sending", status: "cancelled", interaction_id: null });
  await insertAttempt(db, { attempt_id: "s", task_id: "sending", created_at: NOW - DAY_MS });
  for (const taskId of ["unconfirmed", "reopened", "sending"]) {
    await appendEvents(db, taskId, [{ kind: "thought", text: "t", at: 1 }]);
    expect(await deleteRun(db, { taskIds: [taskId], now: NOW })).toBe(false);
  }
  expect(await db.selectFrom("research_events").select("seq").execute()).toHaveLength(3);
  // Polled for its usage only.
  await insertRun(db, { task_id: "completed", status: "completed", ...polled });
  expect(await deleteRun(db, { taskIds: ["completed"], now: NOW })).toBe(true);
});

test("deletion knows every table whose rows belong to a run (T-2)", async () => {
  const known: string[] = ["research_tasks", "research_search", "ledger", ...TABLES_OF_A_RUN];
  const db = await openDatabase();
  const tables = await db.introspection.getTables();
  const ofRuns = tables.filter(({ columns }) => columns.some(({ name }) => name === "task_id")).map(({ name }) => name);
  expect(ofRuns.filter((name) => !known.includes(name))).toEqual([]);
});

const EXPIRED = { status: "completed", completed_at: NOW - 40 * DAY_MS, updated_at: NOW - 40 * DAY_MS };

async function insertExpired(db: Database, count: number): Promise<void> {
  await insertRun(db, { task_id: "newest", updated_at: NOW });
  for (let n = 1; n <= count; n += 1) await insertRun(db, { ...EXPIRED, task_id: `old-${n}` });
}

test("expired runs are deleted one at a time, with long and short timelines, and with pauses (T-2, P7)", async () => {
  const db = await openDatabase();
  await insertExpired(db, 130);
  const events = Array.from({ length: 1_200 }, (_, n) => ({ kind: "thought", text: `t${n}`, at: 1 }));
  await appendEvents(db, "old-3", events);
  await appendEvents(db, "old-4", events.slice(0, 30));
  // A clock on which each deletion takes 400 ms.
  const pauses: number[] = [];
  let time = 0;
  const sleep = async (ms: number): Promise<void> => void pauses.push(ms);
  const slow = { ...clock, monotonic: () => (time += 400), sleep };
  expect(await deleteExpiredRuns({ db, clock: slow, log, removeBackups, keepDays: 30, leaving })).toBe(130);
  expect(pauses).toEqual(Array.from({ length: 130 }, () => 400));
  expect(await db.selectFrom("research_tasks").select("task_id").execute()).toEqual([{ task_id: "newest" }]);
  expect(await db.selectFrom("research_events").select("seq").execute()).toEqual([]);
});

test("a user's name leaves the ledger with runs of that age; what was spent, and the operator's rows, stay (T-2, T28)", async () => {
  const db = await openDatabase();
  const sweep = (keepDays: number) =>
    deleteExpiredRuns({ db, clock, log, removeBackups: async () => {}, keepDays, leaving });
  await insertRun(db, { task_id: "new", updated_at: NOW });
  const days = { ada: 731, grace: 61, local: 800, lin: 63 };
  for (const [owner, age] of Object.entries(days)) {
    const about = {
      taskId: "gone",
      keyFingerprint: undefined,
      model: "m",
      kind: "search",
      isConfirmed: false,
    } as const;
    await reserve(db, { ...about, entryId: owner, owner, maxUsd: 1, at: NOW - age * DAY_MS });
  }
  const owners = async () => {
    const rows = await db.selectFrom("ledger").select(["entry_id", "owner", "micros"]).orderBy("entry_id").execute();
    expect(rows.every(({ micros }) => micros === 1_000_000)).toBe(true);
    return rows.flatMap(({ entry_id, owner }) => (owner === entry_id ? [owner] : []));
  };
  await sweep(0);
  expect(await owners()).toEqual(["ada", "grace", "lin", "local"]);
  await sweep(730);
  expect(await owners()).toEqual(["grace", "lin", "local"]);
  // The budget of a month still counts by owner.
  await sweep(1);
  expect(await owners()).toEqual(["grace", "local"]);
});

test("the interaction id of a deleted run leaves the ledger once Google has forgotten it, even if no run is ever deleted (T-2)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "new", updated_at: NOW });
  const about = { taskId: "gone", owner: "ada", keyFingerprint: undefined, model: "m", kind: "research" } as const;
  for (const age of [59, 61]) {
    await reserve(db, { ...about, entryId: `${age}`, isConfirmed: false, maxUsd: 1, at: NOW - age * DAY_MS });
  }
  await db.updateTable("ledger").set({ interaction_id: "v1_a", base_url: "https://a.example" }).execute();
  await deleteExpiredRuns({ db, clock, log, removeBackups, keepDays: 0, leaving });
  const rows = db.selectFrom("ledger").select(["entry_id", "owner", "interaction_id", "base_url"]).orderBy("entry_id");
  expect(await rows.execute()).toEqual([
    { entry_id: "59", owner: "ada", interaction_id: "v1_a", base_url: "https://a.example" },
    { entry_id: "61", owner: "ada", interaction_id: null, base_url: null },
  ]);
});
