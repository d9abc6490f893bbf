/** SQL of schedules: an occurrence is claimed once, by whichever process changes `next_at` first. */

import { sql } from "kysely";
import { z } from "zod";
import type { Budget } from "../../costs/budget.ts";
import { AppError } from "../../errors.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { type Database, storable } from "../../store/database.ts";
import { databaseNow, lockExclusive, lockRows } from "../../store/dialect.ts";
import { isListed } from "../conversation-store.ts";
import { refusalAbove } from "../ledger/hard-limit.ts";
import { MICROS, microsOf } from "../ledger/ledger-store.ts";
import { STORED_STATUSES, type StoredStatus, UNFINISHED } from "../run.ts";
import { insertRunning, type NewRun } from "../run-store.ts";
import { storedJson } from "../run-row.ts";
import { nextOccurrence, type Rule, ruleSchema } from "./calendar.ts";
import { type Occurrence, OccurrenceRefused, type Schedule, type ScheduleProblem } from "./schedule.ts";

const inputSchema = z.looseObject({ query: z.string() });

const schedulesIn = (db: Database) => db.selectFrom("schedules").selectAll();

type Row = Awaited<ReturnType<ReturnType<typeof schedulesIn>["executeTakeFirstOrThrow"]>>;

const scheduleOf = (row: Row): Schedule => ({
  scheduleId: row.schedule_id,
  owner: row.owner,
  operation: row.operation,
  input: storedJson(row.input_json, inputSchema),
  rule: storedJson(row.rule_json, ruleSchema),
  budgetUsd: row.budget_micros / MICROS,
  paused: row.paused === 1,
  nextAt: row.next_at ?? undefined,
  lastAt: row.last_at ?? undefined,
  problem: row.problem ?? undefined,
  createdAt: row.created_at,
});

/** Of each owner: all of them are listed, and each sweep reads those that are due. */
const MAX_SCHEDULES = 100;

interface NewSchedule extends Pick<Schedule, "budgetUsd" | "input" | "operation" | "owner" | "rule"> {
  /** Of a call that may arrive twice: the second one finds the schedule of the first. */
  id?: string | undefined;
  now: number;
}

export function insertSchedule(
  db: Database,
  { now, id = crypto.randomUUID(), ...schedule }: NewSchedule,
): Promise<Schedule> {
  const { owner, operation, input, rule, budgetUsd } = schedule;
  // Short enough to type.
  const scheduleId = id.slice(0, 8);
  return db.transaction().execute(async (transaction) => {
    await lockExclusive(transaction, `schedules of:${owner}`);
    if ((await listSchedules(transaction, owner)).length >= MAX_SCHEDULES) throw tooMany();
    const at = await databaseNow(transaction, now);
    await transaction
      .insertInto("schedules")
      .values({
        schedule_id: scheduleId,
        owner,
        operation,
        input_json: storable(JSON.stringify(input)),
        rule_json: JSON.stringify(rule),
        budget_micros: microsOf(budgetUsd),
        next_at: nextOccurrence(rule, at) ?? null,
        created_at: at,
        updated_at: at,
      })
      .onConflict((conflict) => conflict.column("schedule_id").doNothing())
      .execute();
    return findSchedule(transaction, owner, scheduleId);
  });
}

const tooMany = (): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message: `There are ${MAX_SCHEDULES} schedules already.`,
    suggestion: "End one that is no longer needed.",
  });

export async function listSchedules(db: Database, owner: string): Promise<Schedule[]> {
  return (await schedulesIn(db).where("owner", "=", owner).orderBy("created_at").execute()).map(scheduleOf);
}

export async function findSchedule(db: Database, owner: string, scheduleId: string): Promise<Schedule> {
  const row = await schedulesIn(db).where("owner", "=", owner).where("schedule_id", "=", scheduleId).executeTakeFirst();
  if (row !== undefined) return scheduleOf(row);
  throw new AppError({
    code: "INVALID_INPUT",
    message: "There is no schedule with this id.",
    details: { status: 404, field: "schedule_id" },
  });
}

export interface ScheduleChange {
  owner: string;
  scheduleId: string;
  paused?: boolean | undefined;
  /** From the rule that is stored. */
  rule?: ((before: Schedule["rule"]) => Schedule["rule"]) | undefined;
  budgetUsd?: number | undefined;
  /** Throws unless the change may be made. */
  check?: ((before: Schedule, after: Schedule) => void) | undefined;
  now: number;
}

/** The next occurrence is the one that is due, or the first one after now and after the last one that was claimed. */
export function changeSchedule(
  db: Database,
  { owner, scheduleId, paused, rule, budgetUsd, check, now }: ScheduleChange,
): Promise<Schedule> {
  return db.transaction().execute(async (transaction) => {
    await lockRows(transaction, schedulesIn(transaction).where("schedule_id", "=", scheduleId)).execute();
    const before = await findSchedule(transaction, owner, scheduleId);
    const at = await databaseNow(transaction, now);
    const after = afterChange(before, { paused, rule, budgetUsd, now: at });
    check?.(before, after);
    const row = await transaction
      .updateTable("schedules")
      .set({
        paused: after.paused ? 1 : 0,
        rule_json: JSON.stringify(after.rule),
        ...(budgetUsd === undefined ? {} : { budget_micros: microsOf(budgetUsd) }),
        next_at: after.nextAt ?? null,
        problem: after.problem ?? null,
        updated_at: at,
      })
      .where("schedule_id", "=", scheduleId)
      .returningAll()
      .executeTakeFirstOrThrow();
    return scheduleOf(row);
  });
}

/** As it would be stored. One that is due still is: it waits for something else. A pause is the user's. */
export function afterChange(
  before: Schedule,
  { paused, rule, budgetUsd, now }: Omit<ScheduleChange, "owner" | "scheduleId">,
): Schedule {
  const changed = rule?.(before.rule) ?? before.rule;
  const isDue = !before.paused && paused !== true && before.nextAt !== undefined && before.nextAt <= now;
  return {
    ...before,
    rule: changed,
    budgetUsd: budgetUsd ?? before.budgetUsd,
    paused: paused ?? before.paused,
    ...(isDue ? {} : { nextAt: nextOccurrence(changed, Math.max(now, before.lastAt ?? 0)), problem: undefined }),
  };
}

/** Nothing is spent in the name of a user who has lost access. */
export async function pauseSchedulesOf(db: Database, owner: string): Promise<void> {
  await db.updateTable("schedules").set({ paused: 1, next_at: null }).where("owner", "=", owner).execute();
}

/** Its runs stay. */
export async function endSchedule(db: Database, owner: string, scheduleId: string): Promise<void> {
  await findSchedule(db, owner, scheduleId);
  await db.deleteFrom("schedules").where("owner", "=", owner).where("schedule_id", "=", scheduleId).execute();
}

const HOUR_MS = 3_600_000;
/** Longer waits than a rule has, with an hour more when the clocks change: the clock was ahead when the time was written. */
const FAR_MS: Record<Rule["every"], number> = { day: 26 * HOUR_MS, week: 8 * 24 * HOUR_MS, month: 33 * 24 * HOUR_MS };

/** Those with an occurrence that is due, by the clock of the database. */
export async function dueSchedules(db: Database, here: number): Promise<{ due: Schedule[]; now: number }> {
  const now = await databaseNow(db, here);
  const rows = await schedulesIn(db)
    .where("paused", "=", 0)
    .where(({ or, and, eb }) =>
      or([
        eb("next_at", "<=", now),
        ...Object.entries(FAR_MS).map(([every, ms]) =>
          and([eb("next_at", ">", now + ms), eb("rule_json", "like", `%"every":"${every}"%`)]),
        ),
      ]),
    )
    .orderBy("next_at")
    .execute();
  return { due: rows.map(scheduleOf), now };
}

/**
 * Claims an occurrence in the transaction that stores its run; throws if it is not to start. Returns what is left of the
 * budget of the schedule, in dollars.
 */
export async function claimOccurrence(
  transaction: Database,
  { scheduleId, dueAt, nextAt, maxUsd, now }: Occurrence & { maxUsd: number | undefined; now: number },
): Promise<number> {
  const due = schedulesIn(transaction)
    .where("schedule_id", "=", scheduleId)
    .where("next_at", "=", dueAt)
    .where("paused", "=", 0);
  const row = await lockRows(transaction, due).executeTakeFirst();
  if (row === undefined) throw new OccurrenceRefused("taken");
  // Of a start whose outcome is unknown, too: a second one could be charged twice.
  if (await hasUnfinishedRun(transaction, scheduleId)) throw new OccurrenceRefused("unfinished");
  const left = row.budget_micros - (await usedMicros(transaction, scheduleId));
  // Without a price its budget cannot be kept.
  if (maxUsd === undefined) throw new OccurrenceRefused("failed");
  if (left <= 0 || microsOf(maxUsd) > left) throw new OccurrenceRefused("budget");
  await transaction
    .updateTable("schedules")
    .set({ next_at: nextAt ?? null, last_at: dueAt, problem: null, updated_at: now })
    .where("schedule_id", "=", scheduleId)
    .execute();
  return left / MICROS;
}

/** Claims an occurrence of a search and stores its run, with this process as its holder. */
export async function beginScheduledSearch(
  db: Database,
  { run, occurrence, maxUsd }: { run: NewRun; occurrence: Occurrence; maxUsd: number | undefined },
): Promise<number> {
  const leftUsd = await db.transaction().execute(async (transaction) => {
    const left = await claimOccurrence(transaction, { ...occurrence, maxUsd, now: run.now });
    await insertRunning(transaction, { ...run, scheduleId: occurrence.scheduleId });
    return left;
  });
  failpoint("after-search-claim");
  return leftUsd;
}

const UNCHARGED = "Nothing was started or charged.";

const otherRuns = (): AppError =>
  new AppError({
    code: "BUSY",
    message: `Another run of its schedule is in progress, and both spend the same budget. ${UNCHARGED}`,
    suggestion: "Try again when that run has ended.",
    retryable: true,
  });

const unpriced = (): AppError =>
  new AppError({
    code: "BUDGET_EXCEEDED",
    message: `There is no price for the model, so the budget of the schedule cannot be kept. ${UNCHARGED}`,
    suggestion: "Set GEMINI_MODEL to a model with a price, or add its price to prices.json in the config directory.",
  });

/**
 * What is left of the budget of a schedule for the continuation of one of its searches, in the transaction that stores
 * it; throws without room for a request. A schedule that was ended has no budget.
 */
export async function claimRest(
  transaction: Database,
  { scheduleId, maxUsd }: Pick<Occurrence, "scheduleId"> & { maxUsd: number | undefined },
): Promise<Budget> {
  const row = await lockRows(
    transaction,
    schedulesIn(transaction).where("schedule_id", "=", scheduleId),
  ).executeTakeFirst();
  if (row === undefined) return {};
  // Each of the two could use what is left.
  if (await hasUnfinishedRun(transaction, scheduleId)) throw otherRuns();
  if (maxUsd === undefined) throw unpriced();
  const hard = (row.budget_micros - (await usedMicros(transaction, scheduleId))) / MICROS;
  const outlay = { what: "search", maxUsd, undone: UNCHARGED };
  const refusal = refusalAbove({ schedule: { hard } }, [], outlay);
  if (refusal !== undefined) throw refusal;
  return { hard };
}

/** The current run of each line counts: an unknown start that was sent again is not the one that is waited for. */
export const hasUnfinishedRun = async (db: Database, scheduleId: string): Promise<boolean> =>
  (await db
    .selectFrom("research_tasks")
    .select("task_id")
    .where("schedule_id", "=", scheduleId)
    .where("status", "in", UNFINISHED)
    .where(isListed)
    .limit(1)
    .executeTakeFirst()) !== undefined;

/** What counts of the requests of its runs, in dollars, reserved amounts included. */
export const usedUsd = async (db: Database, scheduleId: string): Promise<number> =>
  (await usedMicros(db, scheduleId)) / MICROS;

async function usedMicros(db: Database, scheduleId: string): Promise<number> {
  const row = await db
    .selectFrom("ledger")
    .select((entry) => entry.fn.sum<number | null>("micros").as("micros"))
    .where("schedule_id", "=", scheduleId)
    .executeTakeFirst();
  return row?.micros ?? 0;
}

interface Unstarted extends Pick<Occurrence, "scheduleId" | "dueAt"> {
  problem: ScheduleProblem | undefined;
  /** The occurrence after it, if it is passed over; undefined: there is none. Absent: it stays due. */
  passOver?: { nextAt: number | undefined };
  now: number;
}

/** Notes why an occurrence did not start. True if that is news, in one process only. */
export async function noteUnstarted(
  db: Database,
  { scheduleId, dueAt, problem, passOver, now }: Unstarted,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("schedules")
    .set({
      problem: problem ?? null,
      ...(passOver === undefined ? {} : { next_at: passOver.nextAt ?? null, last_at: dueAt }),
      updated_at: now,
    })
    .where("schedule_id", "=", scheduleId)
    .where("next_at", "=", dueAt)
    .$if(passOver === undefined, (update) => update.where(sql<boolean>`problem is distinct from ${problem ?? null}`))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The clock was ahead when this time was written: the occurrences before it are due again, but none a second time. */
export async function bringNear(db: Database, schedule: Schedule, now: number): Promise<void> {
  const nextAt = nextOccurrence(schedule.rule, Math.max(now, schedule.lastAt ?? 0));
  // The last one that was claimed is far ahead, too. An update without effect would wait for the write lock.
  if (nextAt === schedule.nextAt) return;
  await db
    .updateTable("schedules")
    .set({ next_at: nextAt ?? null })
    .where("schedule_id", "=", schedule.scheduleId)
    .where("next_at", "=", schedule.nextAt ?? 0)
    .execute();
}

export interface ScheduledRun {
  taskId: string;
  status: StoredStatus;
  createdAt: number;
}

/** Its newest runs, the current one of each line. */
export async function runsOfSchedule(db: Database, scheduleId: string, limit: number): Promise<ScheduledRun[]> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["task_id", "status", "created_at"])
    .where("schedule_id", "=", scheduleId)
    .where(isListed)
    .orderBy("created_at", "desc")
    .limit(limit)
    .execute();
  return rows.map(scheduledRunOf);
}

export const scheduledRunOf = (row: { task_id: string; status: string; created_at: number }): ScheduledRun => ({
  taskId: row.task_id,
  status: z.enum(STORED_STATUSES).parse(row.status),
  createdAt: row.created_at,
});

/** Schedules that are not paused and have not ended, of all owners: some process has to start their runs. */
export async function countActive(db: Database): Promise<number> {
  const row = await db
    .selectFrom("schedules")
    .select((select) => select.fn.countAll<number>().as("n"))
    .where("paused", "=", 0)
    .where("next_at", "is not", null)
    .executeTakeFirst();
  return row?.n ?? 0;
}
