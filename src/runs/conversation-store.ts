/**
 * Conversations: every paid request is a run of its own. A run may carry on another one and then takes its place: a
 * changed plan and a research the plan, a start that is sent again the unknown one. The ids of a line of such runs all
 * stand for its current run, so that whichever id a user knows works. A run that led to nothing gives way: the run that
 * it carried on is open again. A unique index allows one run at a time to carry on another.
 */

import { type Expression, type ExpressionBuilder, sql, type SqlBool } from "kysely";
import { addCosts, type Cost, NO_COST, roundCost } from "../costs/actual.ts";
import { AppError } from "../errors.ts";
import { compiledQuery } from "../store/compiled-query.ts";
import type { Database, Tables } from "../store/database.ts";
import { RUN_COST } from "./ledger/ledger-store.ts";
import { lockRun, readColumns } from "./lock-store.ts";
import { LOCAL_KINDS, type Run, type RunError, type StatusFilter, statusesIn } from "./run.ts";
import { type Row, runOf } from "./run-row.ts";
import { errorColumns, transition } from "./transition-store.ts";

/** The run that this id stands for now. */
export async function currentOf(db: Database, owner: string, taskId: string): Promise<Run> {
  return withEarlierCost(db, await currentRow(db, owner, taskId));
}

/** With the run that has taken its place, if any. */
const runById = compiledQuery((db, { owner, taskId }: { owner: string; taskId: string }) =>
  db
    .selectFrom("research_tasks")
    .selectAll("research_tasks")
    .select(RUN_COST)
    .select((run) => nextOf(run).select("next.task_id").as("next_id"))
    .where("task_id", "=", taskId)
    .where("owner", "=", owner),
);

/** Nothing takes the place of a search. */
const isLocal = ({ kind }: Row): boolean => LOCAL_KINDS.some((local) => local === kind);

async function currentRow(db: Database, owner: string, taskId: string): Promise<Row> {
  const find = async (id: string) => (await runById(db, { owner, taskId: id }))[0];
  let current = await find(taskId);
  while (current?.gave_way === 1 && current.carries_on !== null) current = await find(current.carries_on);
  for (let next = current; next !== undefined && next.next_id !== null && !isLocal(next); current = next ?? current) {
    next = await find(next.next_id);
  }
  if (current !== undefined) return current;
  throw new AppError({
    code: "TASK_NOT_FOUND",
    message: "There is no run with this id.",
    next: [{ do: "list" }],
  });
}

/** The run and those that it carries on, the first one first, and after each the runs that gave way to it. */
export async function lineOf(db: Database, taskId: string): Promise<Row[]> {
  const runs = db.selectFrom("research_tasks").selectAll("research_tasks").select(RUN_COST);
  const line: Row[] = [];
  for (let next: string | null = taskId; next !== null;) {
    const run: Row | undefined = await runs.where("task_id", "=", next).executeTakeFirst();
    if (run === undefined) break;
    const yielded = await runs.where("carries_on", "=", next).where("gave_way", "=", 1).orderBy("created_at").execute();
    line.unshift(run, ...yielded);
    next = run.carries_on;
  }
  return line;
}

/** Each run has its own cost; a run is shown with what its plans cost before it. */
export async function withEarlierCost(db: Database, row: Row): Promise<Run> {
  const run = runOf(row);
  if (run.part !== "plan" && run.carriesOn === undefined) return run;
  const earlier = (await lineOf(db, row.task_id)).filter(({ task_id }) => task_id !== row.task_id).map(runOf);
  const charged = earlier.filter(isCharged);
  return charged.length === 0 ? run : addUsage(run, charged);
}

/** An imported run has its costs, but no interaction. */
const isCharged = ({ interactionId, cost }: Run): boolean => interactionId !== undefined || (cost.usd ?? 0) > 0;

/** Without what was certainly not charged. */
function addUsage(run: Run, earlier: Run[]): Run {
  const charged = isCharged(run) ? [...earlier, run] : earlier;
  const cost = charged.reduce<Cost>((sum, each) => addCosts(sum, each.cost), NO_COST);
  const isUnknown = earlier.some(({ usageFinal }) => !usageFinal) && cost.usd !== undefined;
  return {
    ...run,
    tokens: {
      input: charged.reduce((sum, { tokens }) => sum + tokens.input, 0),
      output: charged.reduce((sum, { tokens }) => sum + tokens.output, 0),
    },
    cost: roundCost({ ...cost, incomplete: cost.incomplete || isUnknown }),
    usageFinal: isCharged(run) ? run.usageFinal : earlier.every(({ usageFinal }) => usageFinal),
  };
}

type Tasks = ExpressionBuilder<Tables, "research_tasks">;

/** SQLite compiles a statement anew each time it binds a value that the condition of an index depends on. */
const NO = sql.lit(0 as const);

/** The run that has taken its place: a unique index allows one. */
const nextOf = (run: Tasks) =>
  run
    .selectFrom("research_tasks as next")
    .whereRef("next.carries_on", "=", "research_tasks.task_id")
    .where("next.gave_way", "=", NO);

export const isNotCarriedOn = (run: Tasks): Expression<SqlBool> =>
  run.not(run.exists(nextOf(run).select("next.task_id")));

/** A list shows each line of runs once, as its current run. */
export const isListed = (run: Tasks): Expression<SqlBool> => run.and([run("gave_way", "=", NO), isNotCarriedOn(run)]);

/** The same with the shown status, in SQL over the table `research_tasks` or its alias. */
export const hasStatus = (status: StatusFilter, table = "research_tasks"): Expression<SqlBool> => {
  const [stored, part] = [sql.ref(`${table}.status`), sql.ref(`${table}.part`)];
  if (status === "in_progress") return sql<SqlBool>`${stored} in (${sql.join(statusesIn(status))})`;
  if (status === "awaiting_approval") return sql<SqlBool>`${stored} = 'completed' and ${part} = 'plan'`;
  return status === "completed"
    ? sql<SqlBool>`${stored} = 'completed' and ${part} <> 'plan'`
    : sql<SqlBool>`${stored} = ${status}`;
};

/** The ids, besides its own, that stand for a run. */
export const otherIdsOf = async (db: Database, taskId: string): Promise<string[]> =>
  (await lineOf(db, taskId)).flatMap(({ task_id }) => (task_id === taskId ? [] : [task_id]));

/** Locks the run and, before it, those that it carries on, the first one first: all transactions lock in this order. */
export async function lockWithOrigin(transaction: Database, taskId: string): Promise<string | undefined> {
  const originOf = async (id: string) => (await readColumns(transaction, id, ["carries_on"]))?.carries_on ?? undefined;
  const line: string[] = [];
  for (let next: string | undefined = taskId; next !== undefined; next = await originOf(next)) line.unshift(next);
  for (const id of line) await lockRun(transaction, id);
  // Read again: until it was locked, the run may have come to stand alone, or its origin have given way to an earlier one.
  return originOf(taskId);
}

export interface Yielding {
  taskId: string;
  origin: string;
  error: RunError;
  /** Google no longer has the plan. */
  isPlanExpired?: boolean | undefined;
  /** When to poll it all the same: Google may finish it yet. */
  nextPollAt?: number | undefined;
  now: number;
}

/** The run led to nothing: the plan is open, or the earlier start unknown, as before, and shows why. */
export async function giveWay(transaction: Database, yielding: Yielding): Promise<void> {
  const { taskId, origin, error, now } = yielding;
  await transaction
    .updateTable("research_tasks")
    .set({ gave_way: 1, next_poll_at: yielding.nextPollAt ?? null })
    .where("task_id", "=", taskId)
    .execute();
  // Its sender was suspended, and it was sent again meanwhile: that run takes its place.
  await transaction
    .updateTable("research_tasks")
    .set({ carries_on: origin })
    .where("carries_on", "=", taskId)
    .where("gave_way", "=", 0)
    .execute();
  if (yielding.isPlanExpired === true) return void (await expirePlan(transaction, origin, now));
  const unknown = `${error.message} It is still unknown whether Google accepted the earlier start.`;
  const shown = { completed: error, start_unknown: { ...error, code: "START_UNKNOWN", message: unknown } };
  for (const status of ["completed", "start_unknown"] as const) {
    await transaction
      .updateTable("research_tasks")
      .set({ ...errorColumns(shown[status]), updated_at: now })
      .where("task_id", "=", origin)
      .where("status", "=", status)
      // A research that has completed meanwhile has no error.
      .$if(status === "completed", (update) => update.where("part", "=", "plan"))
      .where(isNotCarriedOn)
      .execute();
  }
}

/** Whether the run carries on a start whose outcome is unknown, and not a plan. */
export async function repeatsUnknown(db: Database, origin: string): Promise<boolean> {
  const row = await readColumns(db, origin, ["interaction_id"]);
  return row?.interaction_id === null;
}

export const PLAN_EXPIRED = errorColumns({
  code: "PLAN_EXPIRED",
  message: "The plan has expired: it was not approved in time. The research was not started or charged.",
});

export async function expirePlan(db: Database, taskId: string, now: number): Promise<boolean> {
  const set = { ...PLAN_EXPIRED, updated_at: now, completed_at: now, next_poll_at: null, lease_until: null };
  const ended = await transition(db, { taskId, to: "failed", from: [], alsoFrom: ["completed"], holder: "any", set })
    .where("part", "=", "plan")
    .where(isNotCarriedOn)
    .executeTakeFirst();
  return ended.numUpdatedRows > 0n;
}

/**
 * The start of this run is known after all: the run that was sent in its place is another one. One that is not sent yet
 * gives way instead, and with it loses the permission to send: what the user wanted again has arrived.
 */
export async function standAlone(transaction: Database, taskId: string): Promise<void> {
  const next = transaction.updateTable("research_tasks").where("carries_on", "=", taskId).where("gave_way", "=", 0);
  await next.set({ gave_way: 1 }).where("status", "=", "pending").execute();
  await next.set(ALONE).where("status", "!=", "pending").execute();
}

/** The run had given way, but was being sent already, or Google has finished it after all: it is another one, and shown. */
export async function standAloneAgain(transaction: Database, taskId: string): Promise<void> {
  await transaction
    .updateTable("research_tasks")
    .set(ALONE)
    .set({ gave_way: 0 })
    .where("task_id", "=", taskId)
    .where("gave_way", "=", 1)
    .execute();
}

const ALONE = (run: Tasks) => ({
  carries_on: null,
  parent_task_id: run.fn.coalesce("parent_task_id", run.ref("carries_on")),
});
