/** Schedules in the database: claimed once, within their budget, whatever the clock does. */

import { expect, test } from "vitest";
import { INTENT } from "../../../test/kit/store/stored-start.ts";
import { insertCost, insertRun, openDatabase, rowOf } from "../../../test/kit/store/store-rows.ts";
import { setClock } from "../../../test/kit/store/databases.ts";
import type { Database } from "../../store/database.ts";
import { commitIntent, recordStartFailure } from "../start/start-store.ts";
import { beginContinuation, insertRunning } from "../run-store.ts";
import { currentOf } from "../conversation-store.ts";
import { announceEnd, untoldRuns } from "./announcement-store.ts";
import {
  beginScheduledSearch,
  bringNear,
  changeSchedule,
  claimRest,
  dueSchedules,
  endSchedule,
  findSchedule,
  insertSchedule,
  listSchedules,
  noteUnstarted,
  pauseSchedulesOf,
  runsOfSchedule,
  usedUsd,
} from "./schedule-store.ts";
import { type Occurrence, OccurrenceRefused, type Schedule } from "./schedule.ts";

const DAY = 86_400_000;
const NOW = Date.parse("2027-01-04T12:00Z");
const FIRST = Date.parse("2027-01-05T07:00Z");
const RULE = { every: "day", at: "07:00", time_zone: "UTC" } as const;

const inserted = (db: Database, more: Partial<Schedule> = {}): Promise<Schedule> =>
  insertSchedule(db, {
    owner: "local",
    operation: "start_deep_research",
    input: { query: "How deep is the lake?" },
    rule: RULE,
    budgetUsd: 20,
    now: NOW,
    ...more,
  });

const occurrenceOf = ({ scheduleId, nextAt = 0 }: Schedule): Occurrence => ({
  scheduleId,
  dueAt: nextAt,
  nextAt: nextAt + DAY,
});

const start = (db: Database, occurrence: Occurrence, more = {}) =>
  commitIntent(db, { ...INTENT, estimate: { usd: { max: 5 } }, occurrence, now: FIRST, ...more }, { join: false });

const searched = (db: Database, occurrence: Occurrence, taskId: string) =>
  beginScheduledSearch(db, {
    run: {
      taskId,
      owner: "local",
      client: "schedule",
      kind: "search",
      query: "?",
      options: {},
      parentTaskId: undefined,
      processId: "me",
      now: FIRST,
    },
    occurrence,
    maxUsd: 1,
  });

const reasonOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(
    () => undefined,
    (refused: unknown) => refused,
  );
  return error instanceof OccurrenceRefused ? error.reason : String(error);
};

test("an occurrence is claimed once by eight processes at a time, with the intent of its run (I17)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const schedule = await inserted(db);
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => start(db, occurrenceOf(schedule))));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const runs = await runsOfSchedule(db, schedule.scheduleId, 9);
  expect(runs).toMatchObject([{ status: "pending" }]);
  expect(await rowOf(db, runs[0]?.taskId ?? "")).toMatchObject({
    schedule_id: schedule.scheduleId,
    parent_task_id: null,
    carries_on: null,
  });
  expect(await findSchedule(db, "local", schedule.scheduleId)).toMatchObject({ lastAt: FIRST, nextAt: FIRST + DAY });
  expect(await db.selectFrom("ledger").select(["schedule_id", "micros"]).execute()).toEqual([
    { schedule_id: schedule.scheduleId, micros: 5_000_000 },
  ]);
  // A process that found it due before, and comes when that run has ended.
  await db.updateTable("research_tasks").set({ status: "completed" }).execute();
  expect(await reasonOf(start(db, occurrenceOf(schedule)))).toBe("taken");
});

test("a search is claimed in the same way (I17)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const schedule = await inserted(db, { operation: "search" });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, (_, n) => searched(db, occurrenceOf(schedule), `task-${n}`)),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toMatchObject([{ value: 20 }]);
  expect(await runsOfSchedule(db, schedule.scheduleId, 9)).toMatchObject([{ status: "running" }]);
});

test("a start that is refused claims nothing (I17)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const schedule = await inserted(db);
  const limits = { unfinished: 0, perUser: 0, budgets: {} };
  const occurrence = occurrenceOf(schedule);
  const refused = commitIntent(db, { ...INTENT, estimate: { usd: { max: 5 } }, occurrence }, { join: false, limits });
  await expect(refused).rejects.toMatchObject({ code: "BUSY" });
  expect(await findSchedule(db, "local", schedule.scheduleId)).toMatchObject({ nextAt: FIRST, lastAt: undefined });
  expect(await runsOfSchedule(db, schedule.scheduleId, 9)).toEqual([]);
});

test("no run is started while the outcome of the last one is unknown (I17)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const schedule = await inserted(db);
  const begun = await start(db, occurrenceOf(schedule));
  if (begun.kind !== "intended") throw new Error(begun.kind);
  const error = { code: "START_UNKNOWN", message: "Unknown." };
  await recordStartFailure(db, { ...begun, to: "start_unknown", error, now: FIRST });
  const next = { ...occurrenceOf(schedule), dueAt: FIRST + DAY, nextAt: FIRST + 2 * DAY };
  expect(await reasonOf(start(db, next))).toBe("unfinished");
  // Sent again by the user, it is a run of the schedule, which counts against its budget and is waited for.
  const carriesOn = { taskId: begun.taskId, from: "start_unknown" } as const;
  const again = await commitIntent(db, { ...INTENT, estimate: { usd: { max: 5 } }, carriesOn }, { join: false });
  if (again.kind !== "intended") throw new Error(again.kind);
  expect(await rowOf(db, again.taskId)).toMatchObject({ schedule_id: schedule.scheduleId });
  expect(await usedUsd(db, schedule.scheduleId)).toBe(10);
  expect(await reasonOf(start(db, next))).toBe("unfinished");
  await db.updateTable("research_tasks").set({ status: "completed" }).where("task_id", "=", again.taskId).execute();
  expect((await start(db, next)).kind).toBe("intended");
});

test("the budget of a schedule counts what is reserved, and what deleted runs have cost (I18)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const schedule = await inserted(db, { budgetUsd: 10.5 });
  const { scheduleId } = schedule;
  await insertRun(db, { task_id: "one", status: "completed", schedule_id: scheduleId });
  await insertCost(db, { task_id: "one", cost: { usd: 6, incomplete: false, estimated: false } });
  await db.deleteFrom("research_tasks").execute();
  expect(await usedUsd(db, scheduleId)).toBe(6);
  expect(await reasonOf(start(db, occurrenceOf(schedule)))).toBe("budget");
  await changeSchedule(db, { owner: "local", scheduleId, budgetUsd: 11, now: NOW });
  expect((await start(db, occurrenceOf(schedule))).kind).toBe("intended");
  await db.updateTable("research_tasks").set({ status: "completed" }).execute();
  const next = { scheduleId, dueAt: FIRST + DAY, nextAt: undefined };
  expect(await reasonOf(start(db, next, { estimate: { usd: { max: 0.01 } } }))).toBe("budget");
});

test("a run without a price is not started, and its claim is not kept (I18)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const schedule = await inserted(db);
  expect(await reasonOf(start(db, occurrenceOf(schedule), { estimate: {} }))).toBe("failed");
  expect(await findSchedule(db, "local", schedule.scheduleId)).toMatchObject({ nextAt: FIRST, lastAt: undefined });
});

test("the continuation of a search of a schedule is a run of it, within what is left of its budget (I17, I18)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const schedule = await inserted(db, { operation: "deep_search", budgetUsd: 3 });
  const { scheduleId } = schedule;
  await searched(db, occurrenceOf(schedule), "stopped");
  await insertCost(db, { task_id: "stopped", cost: { usd: 2, incomplete: false, estimated: false } });
  const stop = (): Promise<unknown> => db.updateTable("research_tasks").set({ status: "failed" }).execute();
  await stop();
  const run = { owner: "local", client: undefined, kind: "deep_search", query: "?", options: {}, now: FIRST } as const;
  const next = (taskId: string, parentTaskId: string, maxUsd: number | undefined) =>
    beginContinuation(db, {
      ...run,
      taskId,
      parentTaskId,
      processId: "me",
      claimRest: (transaction, of) => claimRest(transaction, { scheduleId: of, maxUsd }),
    });
  await expect(next("too dear", "stopped", 1.01)).rejects.toMatchObject({ code: "BUDGET_EXCEEDED" });
  await expect(next("unpriced", "stopped", undefined)).rejects.toMatchObject({ code: "BUDGET_EXCEEDED" });
  await insertRun(db, { task_id: "other", status: "running", schedule_id: scheduleId });
  await expect(next("beside", "stopped", 1)).rejects.toMatchObject({ code: "BUSY" });
  await stop();
  expect(await next("next", "stopped", 1)).toEqual({ kind: "begun", ofSchedule: { hard: 1 } });
  expect(await rowOf(db, "next")).toMatchObject({ schedule_id: scheduleId, status: "running" });
  const later = { scheduleId, dueAt: FIRST + DAY, nextAt: undefined };
  expect(await reasonOf(searched(db, later, "later"))).toBe("unfinished");
  // An ended schedule has no budget.
  await stop();
  await endSchedule(db, "local", scheduleId);
  expect(await next("last", "next", 5)).toEqual({ kind: "begun", ofSchedule: {} });
});

test("a start is checked with what is reserved for it (I18)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const checked: (number | undefined)[] = [];
  const checkCost = (_budgets: unknown, maxUsd?: number): boolean => checked.push(maxUsd) > 0;
  await commitIntent(db, { ...INTENT, estimate: { usd: { max: 5 } } }, { join: false, checkCost });
  expect(checked).toEqual([5]);
  const { micros } = await db.selectFrom("ledger").select("micros").executeTakeFirstOrThrow();
  expect(micros).toBe(5_000_000);
});

test("a change is merged with the stored rule, and checked with what would be stored (I15)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const { scheduleId } = await inserted(db);
  const marks = { owner: "local", scheduleId, now: NOW };
  await Promise.all([
    changeSchedule(db, { ...marks, rule: (before) => ({ ...before, at: "06:00" }) }),
    changeSchedule(db, { ...marks, rule: (before) => ({ ...before, until: "2027-03-01" }) }),
    changeSchedule(db, { ...marks, budgetUsd: 5 }),
  ]);
  const changed = await findSchedule(db, "local", scheduleId);
  expect(changed).toMatchObject({ rule: { ...RULE, at: "06:00", until: "2027-03-01" }, budgetUsd: 5 });
  const refused = changeSchedule(db, {
    ...marks,
    rule: (before) => ({ ...before, at: "13:00" }),
    check: (before, after) => {
      throw new Error(`${before.nextAt} ${after.nextAt}`);
    },
  });
  await expect(refused).rejects.toThrow(`${changed.nextAt} ${Date.parse("2027-01-04T13:00Z")}`);
  expect(await findSchedule(db, "local", scheduleId)).toEqual(changed);
});

test("a change keeps an occurrence that is due and waits; a pause does not (I15, I17)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const { scheduleId } = await inserted(db);
  await setClock(db, FIRST + 1);
  const marks = { owner: "local", scheduleId, now: FIRST + 1 };
  await noteUnstarted(db, { scheduleId, dueAt: FIRST, problem: "unfinished", now: FIRST + 1 });
  const waits = { nextAt: FIRST, problem: "unfinished" };
  expect(await changeSchedule(db, { ...marks, budgetUsd: 30 })).toMatchObject(waits);
  expect(await changeSchedule(db, { ...marks, paused: false })).toMatchObject(waits);
  expect(await changeSchedule(db, { ...marks, rule: (before) => ({ ...before, at: "06:00" }) })).toMatchObject(waits);
  await changeSchedule(db, { ...marks, paused: true });
  const next = { nextAt: Date.parse("2027-01-06T06:00Z"), problem: undefined };
  expect(await changeSchedule(db, { ...marks, paused: false })).toMatchObject(next);
});

test("what is due is found by the clock of the database, and why it does not start is stored once (I19)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const schedule = await inserted(db);
  const { scheduleId } = schedule;
  expect((await dueSchedules(db, NOW)).due).toEqual([]);
  await setClock(db, FIRST);
  expect(await dueSchedules(db, FIRST)).toEqual({ due: [schedule], now: FIRST });
  const waits = { scheduleId, dueAt: FIRST, problem: "unavailable", now: FIRST } as const;
  const noted = await Promise.all(Array.from({ length: 4 }, () => noteUnstarted(db, waits)));
  expect(noted.filter((isNews) => isNews)).toHaveLength(1);
  expect((await dueSchedules(db, FIRST)).due).toMatchObject([{ problem: "unavailable", nextAt: FIRST }]);
  const passed = { ...waits, problem: "budget", passOver: { nextAt: FIRST + DAY } } as const;
  expect([await noteUnstarted(db, passed), await noteUnstarted(db, passed)]).toEqual([true, false]);
  expect(await findSchedule(db, "local", scheduleId)).toMatchObject({ problem: "budget", nextAt: FIRST + DAY });
  // The next one that starts has no problem.
  await start(db, { scheduleId, dueAt: FIRST + DAY, nextAt: FIRST + 2 * DAY });
  expect(await findSchedule(db, "local", scheduleId)).toMatchObject({ problem: undefined });
});

test("a clock that was set back brings no occurrence a second time, one that was ahead loses none (I17)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const schedule = await inserted(db);
  const { scheduleId } = schedule;
  await start(db, occurrenceOf(schedule));
  await db.updateTable("research_tasks").set({ status: "completed" }).execute();
  const marks = { owner: "local", scheduleId, now: NOW };
  // An hour before the occurrence that was started.
  await changeSchedule(db, { ...marks, paused: true });
  expect(await changeSchedule(db, { ...marks, paused: false })).toMatchObject({ nextAt: FIRST + DAY });
  // The clock was a year ahead for a while.
  const year = FIRST + 365 * DAY;
  await start(db, { scheduleId, dueAt: FIRST + DAY, nextAt: year });
  const [far] = (await dueSchedules(db, NOW)).due;
  expect(far?.nextAt).toBe(year);
  if (far !== undefined) await bringNear(db, far, NOW);
  expect(await findSchedule(db, "local", scheduleId)).toMatchObject({ nextAt: FIRST + 2 * DAY });
});

test.for([
  ["day", { every: "day", at: "07:00", time_zone: "UTC" }, FIRST],
  ["week", { every: "week", weekday: "friday", at: "07:00", time_zone: "UTC" }, Date.parse("2027-01-08T07:00Z")],
  ["month", { every: "month", day: 31, at: "07:00", time_zone: "UTC" }, Date.parse("2027-01-31T07:00Z")],
] as const)("a clock that was a few days ahead costs no run of a %s (I17)", async ([, rule, first]) => {
  const db = await openDatabase({ stoppedAt: NOW });
  const schedule = await inserted(db, { rule });
  const { scheduleId } = schedule;
  // As far away as an occurrence can be.
  const { due } = await dueSchedules(db, NOW);
  expect([due, schedule.nextAt]).toEqual([[], first]);
  // The clock was one to 31 days ahead when it was claimed.
  const next = first + (rule.every === "month" ? 59 : rule.every === "week" ? 14 : 2) * DAY;
  await start(db, { scheduleId, dueAt: first, nextAt: next });
  await setClock(db, first);
  const [far] = (await dueSchedules(db, first)).due;
  expect(far?.nextAt).toBe(next);
  if (far !== undefined) await bringNear(db, far, first);
  expect((await dueSchedules(db, first)).due).toEqual([]);
  const { nextAt = 0 } = await findSchedule(db, "local", scheduleId);
  expect(nextAt).toBeLessThan(next);
  expect(nextAt).toBeGreaterThan(first);
});

test("a paused schedule is not due, and one that has ended keeps its runs (I15)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const schedule = await inserted(db);
  const { scheduleId } = schedule;
  await changeSchedule(db, { owner: "local", scheduleId, paused: true, now: NOW });
  await setClock(db, FIRST);
  expect((await dueSchedules(db, FIRST)).due).toEqual([]);
  expect(await reasonOf(start(db, occurrenceOf(schedule)))).toBe("taken");
  await insertRun(db, { task_id: "one", status: "completed", schedule_id: scheduleId });
  await expect(endSchedule(db, "someone", scheduleId)).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await changeSchedule(db, { owner: "local", scheduleId, paused: false, now: NOW });
  await pauseSchedulesOf(db, "someone");
  expect(await findSchedule(db, "local", scheduleId)).toMatchObject({ paused: false });
  await pauseSchedulesOf(db, "local");
  expect(await findSchedule(db, "local", scheduleId)).toMatchObject({ paused: true, nextAt: undefined });
  await endSchedule(db, "local", scheduleId);
  expect(await listSchedules(db, "local")).toEqual([]);
  expect(await rowOf(db, "one")).toMatchObject({ status: "completed" });
});

test("the end of each run is announced once, by one process (O10)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const { scheduleId } = await inserted(db);
  const run = { schedule_id: scheduleId, status: "completed" };
  await insertRun(db, { ...run, task_id: "one", created_at: 1 });
  await insertRun(db, { ...run, task_id: "two", created_at: 2 });
  expect(await untoldRuns(db)).toMatchObject([
    { taskId: "one", owner: "local", status: "completed" },
    { taskId: "two", createdAt: 2 },
  ]);
  for (const untold of await untoldRuns(db)) {
    const stored = await currentOf(db, "local", untold.taskId);
    const changes = untold.taskId === "two" ? "No change found" : undefined;
    await Promise.all(Array.from({ length: 4 }, () => announceEnd(db, { ...untold, run: stored, changes, now: 5 })));
    // A process that could not compare them comes late.
    await announceEnd(db, { ...untold, run: stored, changes: "Something else", now: 5 });
  }
  const notices = db.selectFrom("notification_outbox").select(["task_id", "kind"]).orderBy("outbox_id");
  expect(await notices.execute()).toEqual([
    { task_id: "one", kind: "completed" },
    { task_id: "two", kind: "changed" },
  ]);
  expect(await untoldRuns(db)).toEqual([]);
  await insertRunning(db, {
    taskId: "three",
    owner: "local",
    client: undefined,
    kind: "search",
    query: "?",
    options: {},
    parentTaskId: undefined,
    processId: "me",
    scheduleId,
    now: 3,
  });
  expect(await untoldRuns(db)).toEqual([]);
});

test("a user has at most a hundred schedules (I15)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  for (let n = 0; n < 100; n += 1) await inserted(db, { owner: "anna" });
  await expect(inserted(db, { owner: "anna" })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  expect((await inserted(db)).owner).toBe("local");
});
