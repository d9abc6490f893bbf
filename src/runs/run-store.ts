/** SQL for searches that run in this process and for what continues them, and for reading and listing runs of every kind. */

import { sql } from "kysely";
import type { Cost } from "../costs/actual.ts";
import type { Budget } from "../costs/budget.ts";
import { compiledQuery } from "../store/compiled-query.ts";
import { type Database, storable } from "../store/database.ts";
import { databaseNow, progressAtLeast } from "../store/dialect.ts";
import { costOfRun, isExact, type LedgerEntry, RUN_COST, saveEntries } from "./ledger/ledger-store.ts";
import { lockRun, SEARCH_LEASE_MS } from "./lock-store.ts";
import { LOCAL_KINDS, type Run, type RunKind, type StatusFilter } from "./run.ts";
import { complexityIn } from "./history/run-estimate.ts";
import { hasStatus, isListed, withEarlierCost } from "./conversation-store.ts";
import { recordFigures, saveResult } from "./result-store.ts";
import { type Row, runOf, statusOf } from "./run-row.ts";
import { endColumns, type Ending, errorColumns, transition } from "./transition-store.ts";

export interface NewRun extends Pick<
  Run,
  "client" | "kind" | "options" | "owner" | "parentTaskId" | "query" | "taskId"
> {
  processId: string;
  /** The schedule that starts it. */
  scheduleId?: string | undefined;
  now: number;
}

export async function insertRunning(db: Database, run: NewRun): Promise<void> {
  await db
    .insertInto("research_tasks")
    .values({
      task_id: run.taskId,
      owner: run.owner,
      kind: run.kind,
      query: storable(run.query),
      status: "running",
      mode: "sync",
      options_json: JSON.stringify(run.options),
      client: run.client ?? null,
      parent_task_id: run.parentTaskId ?? null,
      schedule_id: run.scheduleId ?? null,
      enable_notifications: 0,
      created_at: run.now,
      started_at: run.now,
      updated_at: run.now,
      lease_owner: run.processId,
      lease_until: (await databaseNow(db, run.now)) + SEARCH_LEASE_MS,
    })
    .execute();
}

export interface Beat extends Pick<Run, "progress" | "taskId" | "tokens"> {
  processId: string;
  /** Paid requests whose outcome is not stored yet. */
  entries?: readonly LedgerEntry[] | undefined;
  currentAction: string;
  now: number;
}

/** Renews the lease and stores progress and cost, in case the process dies. Progress only grows, up to 99. */
export function recordBeat(db: Database, beat: Beat): Promise<void> {
  const { entries = [] } = beat;
  if (entries.length === 0) return updateBeat(db, beat);
  return db.transaction().execute(async (transaction) => {
    await updateBeat(transaction, beat);
    await saveEntries(transaction, entries);
  });
}

async function updateBeat(db: Database, beat: Beat): Promise<void> {
  const lease_until = (await databaseNow(db, beat.now)) + SEARCH_LEASE_MS;
  await db
    .updateTable("research_tasks")
    .set((run) => ({
      progress: progressAtLeast(run, Math.round(Math.min(99, beat.progress))),
      current_action: storable(beat.currentAction),
      tokens_input: beat.tokens.input,
      tokens_output: beat.tokens.output,
      updated_at: beat.now,
      lease_until,
    }))
    .where("task_id", "=", beat.taskId)
    .where("status", "=", "running")
    .where("lease_owner", "=", beat.processId)
    .execute();
}

export interface Finish extends Ending {
  taskId: string;
  processId: string;
  backend: string | undefined;
  model: string | undefined;
  tokens: Run["tokens"];
  /** Of all its paid requests, which the ledger has one by one. */
  cost: Cost;
  entries?: readonly LedgerEntry[] | undefined;
}

/**
 * Stores status, usage, report and search index in one transaction. Returns false if the run has ended already: then only
 * what its requests cost is stored.
 */
export function finishRun(db: Database, finish: Finish): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const { taskId, to, processId, result, entries = [], now } = finish;
    const set = { ...endColumns(finish), backend: finish.backend ?? null, model: finish.model ?? null };
    const moved = await transition(transaction, { taskId, to, holder: { processId }, set })
      .returning("query")
      .executeTakeFirst();
    await saveEntries(transaction, entries);
    if (moved === undefined) return false;
    if (result !== undefined) await saveResult(transaction, { taskId, query: moved.query, result, now });
    await recordFigures(transaction, taskId);
    return true;
  });
}

/** Unfinished runs of the local kinds, with the process that holds each. */
export async function unfinishedLocalRuns(
  db: Database,
): Promise<{ taskId: string; leaseOwner: string; leaseUntil: number }[]> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["task_id", "lease_owner", "lease_until"])
    .where("status", "in", ["pending", "running"])
    .where("kind", "in", [...LOCAL_KINDS])
    .execute();
  return rows.map((row) => ({
    taskId: row.task_id,
    leaseOwner: row.lease_owner ?? "",
    leaseUntil: row.lease_until ?? 0,
  }));
}

export async function markInterrupted(
  db: Database,
  run: { taskId: string; leaseOwner: string; now: number },
): Promise<boolean> {
  const moved = await transition(db, {
    taskId: run.taskId,
    to: "failed",
    from: ["pending", "running"],
    holder: { processId: run.leaseOwner },
    set: {
      current_action: null,
      ...errorColumns({
        code: "INTERRUPTED",
        message: "The process that worked on this run ended before the run did.",
      }),
      updated_at: run.now,
      completed_at: run.now,
      lease_until: null,
    },
  }).executeTakeFirst();
  return moved.numUpdatedRows > 0n;
}

export interface RunFilter {
  owner: string;
  status: StatusFilter | undefined;
  kind: RunKind | undefined;
  /** True: only starred runs. */
  starred?: boolean | undefined;
  /** Only runs with this tag. */
  tag?: string | undefined;
  /** True: only archived runs, false: only others, undefined: both. */
  archived?: boolean | undefined;
  limit: number;
  /** Only runs older than this one are listed. */
  before: { createdAt: number; taskId: string } | undefined;
}

/** Stored tags have a space on both sides. */
export const hasTag = (tag: string) => sql<boolean>`(tags > '' and replace(tags, ${` ${tag} `}, '') <> tags)`;

/** With another condition beside it, SQLite would read all runs of the owner, newest first. */
const taggedRuns = (db: Database, { owner, tag = "" }: Pick<RunFilter, "owner" | "tag">) =>
  db.selectFrom("research_tasks").select("task_id").where("owner", "=", owner).where(hasTag(tag));

type ListValues = Pick<RunFilter, "owner" | "limit"> & NonNullable<RunFilter["before"]>;
type ListConditions = Omit<RunFilter, keyof ListValues | "before"> & { isContinued: boolean };

/** By their conditions, of which there are some dozen combinations. */
const lists = new Map<string, (db: Database, values: ListValues) => Promise<Row[]>>();

/** Newest first. Returns up to one run more than `limit`, which shows that there is another page. */
export async function listRuns(db: Database, filter: RunFilter): Promise<Run[]> {
  const { owner, status, kind, starred, tag, archived, before } = filter;
  const conditions = { status, kind, starred, tag, archived, isContinued: before !== undefined };
  const values = { owner, limit: filter.limit + 1, createdAt: 0, taskId: "", ...before };
  const rows = await (tag === undefined
    ? compiledList(conditions)(db, values)
    : list(db, conditions, values).execute());
  return Promise.all(rows.map((row) => withEarlierCost(db, row)));
}

function compiledList(conditions: ListConditions): (db: Database, values: ListValues) => Promise<Row[]> {
  const key = JSON.stringify(conditions);
  const compiled = lists.get(key) ?? compiledQuery((db, values: ListValues) => list(db, conditions, values));
  lists.set(key, compiled);
  return compiled;
}

function list(db: Database, conditions: ListConditions, { owner, limit, createdAt, taskId }: ListValues) {
  const { status, kind, starred, tag, archived, isContinued } = conditions;
  let query = db
    .selectFrom("research_tasks")
    .selectAll("research_tasks")
    .select(RUN_COST)
    .where((where) =>
      tag === undefined ? where("owner", "=", owner) : where("task_id", "in", taggedRuns(db, { owner, tag })),
    )
    .where(isListed);
  if (status !== undefined) {
    const isWanted = hasStatus(status);
    // `is true` keeps SQLite from reading all runs with this status instead.
    query = query.where(tag === undefined ? isWanted : sql<boolean>`(${isWanted}) is true`);
  }
  if (kind !== undefined) query = query.where("kind", "=", kind);
  if (starred === true) query = query.where("starred", "=", 1);
  if (archived !== undefined) query = query.where("archived", "=", archived ? 1 : 0);
  if (isContinued) {
    // A row comparison uses the index; the equivalent conditions joined by "or" would scan it.
    query = query.where((where) => where(where.refTuple("created_at", "task_id"), "<", where.tuple(createdAt, taskId)));
  }
  return query.orderBy("created_at", "desc").orderBy("task_id", "desc").limit(limit);
}

/** Runs in the order of the given ids, without those of other owners. */
export async function findRuns(db: Database, owner: string, taskIds: string[]): Promise<Run[]> {
  // PostgreSQL rejects an empty IN list.
  if (taskIds.length === 0) return [];
  const rows = await db
    .selectFrom("research_tasks")
    .selectAll("research_tasks")
    .select(RUN_COST)
    .where("task_id", "in", taskIds)
    .where("owner", "=", owner)
    .execute();
  const runs = await Promise.all(rows.map((row) => withEarlierCost(db, row)));
  return taskIds.flatMap((taskId) => runs.find((run) => run.taskId === taskId) ?? []);
}

/** The newest completed agent runs, as the basis of estimates. */
export async function finishedAgentRuns(db: Database, owner: string, limit: number) {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["query", "model", "created_at", "completed_at", "usage_final"])
    .select(["part", "estimate_json", "searches", ...RUN_COST])
    .where("owner", "=", owner)
    .where("kind", "=", "agent")
    // A plan and a follow-up take seconds and cents.
    .where("part", "in", ["question", "research"])
    .where("status", "=", "completed")
    // An imported run has only released rows: its figures are those of its archive.
    .where((run) =>
      run.exists(
        run
          .selectFrom("ledger")
          .select("entry_id")
          .whereRef("ledger.task_id", "=", "research_tasks.task_id")
          .where("state", "!=", "released"),
      ),
    )
    .orderBy("created_at", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    query: row.query,
    model: row.model ?? "",
    durationMs: (row.completed_at ?? row.created_at) - row.created_at,
    // Only complete costs at known prices are used for estimates.
    costUsd: row.usage_final === 1 && isExact(row) ? costOfRun(row).usd : undefined,
    // A research with a plan is classified by its plan.
    complexity: row.part === "research" ? complexityIn(row.estimate_json) : undefined,
    searches: row.searches ?? 0,
  }));
}

/** Far above any conversation that a person has. */
const MAX_FOLLOW_UPS = 100;

const followUps = (db: Database, owner: string, taskId: string) =>
  db
    .selectFrom("research_tasks")
    .selectAll("research_tasks")
    .select(RUN_COST)
    .where("parent_task_id", "=", taskId)
    .where("owner", "=", owner)
    .where("followup_context", "is not", null)
    .where(isListed);

/** Oldest first. */
export async function followUpsOn(db: Database, owner: string, taskId: string): Promise<Run[]> {
  const oldestFirst = followUps(db, owner, taskId).orderBy("created_at").orderBy("task_id");
  return (await oldestFirst.limit(MAX_FOLLOW_UPS).execute()).map(runOf);
}

const followUpHeads = compiledQuery((db, { owner, taskId }: { owner: string; taskId: string }) =>
  db
    .selectFrom("research_tasks")
    .select(["task_id", "query", "status", "part"])
    .where("parent_task_id", "=", taskId)
    .where("owner", "=", owner)
    .where("followup_context", "is not", null)
    .where(isListed)
    .orderBy("created_at")
    .orderBy("task_id")
    .limit(MAX_FOLLOW_UPS),
);

/** For a list of them; oldest first. */
export const followUpHeadsOn = async (db: Database, owner: string, taskId: string) =>
  (await followUpHeads(db, { owner, taskId })).map((row) => ({
    task_id: row.task_id,
    query: row.query,
    status: statusOf(row),
  }));

/** Each was paid for on its own. */
const MAX_TABLES = 1_000;

/** The follow-ups that make a table, newest first. */
export async function tableRunsOn(db: Database, owner: string, taskId: string): Promise<Run[]> {
  const newestFirst = followUps(db, owner, taskId).orderBy("created_at", "desc").orderBy("task_id", "desc");
  const tables = newestFirst.where("part", "=", "table").limit(MAX_TABLES);
  return (await tables.execute()).map(runOf);
}

/** Identifies the API key of the run's interaction, which other keys cannot read. */
export async function pollKeyOfRun(db: Database, taskId: string): Promise<string | undefined> {
  const run = db.selectFrom("research_tasks").select("poll_key").where("task_id", "=", taskId);
  return (await run.executeTakeFirst())?.poll_key ?? undefined;
}

export interface NamedRun {
  taskId: string;
  query: string;
  title: string | null;
  status: string;
  createdAt: number;
}

const MAX_MATCHES = 10;

/** Sorts after every hexadecimal digit in any collation. */
const AFTER_HEX_DIGITS = "g";

const namedRuns = (db: Database, owner: string) =>
  db
    .selectFrom("research_tasks")
    .select(["task_id as taskId", "query", "title", "status", "created_at as createdAt"])
    .where("owner", "=", owner);

export const runsBeginningWith = (db: Database, owner: string, prefix: string): Promise<NamedRun[]> =>
  namedRuns(db, owner)
    // A range can use the index.
    .where("task_id", ">=", prefix)
    .where("task_id", "<", prefix + AFTER_HEX_DIGITS)
    .orderBy("task_id")
    .limit(MAX_MATCHES)
    .execute();

export const newestRuns = (db: Database, owner: string, limit: number): Promise<NamedRun[]> =>
  namedRuns(db, owner).where(isListed).orderBy("created_at", "desc").orderBy("task_id", "desc").limit(limit).execute();

export type Continuation =
  | { kind: "begun"; ofSchedule?: Budget | undefined }
  | { kind: "known"; taskId: string; status: string };

interface NewContinuation extends NewRun {
  parentTaskId: string;
  /** Of a search of a schedule: returns what the continuation may cost, or throws if it may not begin. */
  claimRest: (transaction: Database, scheduleId: string) => Promise<Budget>;
}

/** One transaction with the parent locked, so that a concurrent call gets the run of the first one. */
export function beginContinuation(db: Database, { claimRest, ...run }: NewContinuation): Promise<Continuation> {
  return db.transaction().execute(async (transaction) => {
    const { parentTaskId: taskId, owner } = run;
    await lockRun(transaction, taskId);
    const newest = await newestContinuation(transaction, { taskId, owner });
    if (newest !== undefined) return { kind: "known", taskId: newest.task_id, status: newest.status };
    const parent = transaction.selectFrom("research_tasks").select("schedule_id").where("task_id", "=", taskId);
    const scheduleId = (await parent.executeTakeFirst())?.schedule_id ?? undefined;
    const ofSchedule = scheduleId === undefined ? undefined : await claimRest(transaction, scheduleId);
    await insertRunning(transaction, { ...run, scheduleId });
    return { kind: "begun", ofSchedule };
  });
}

/** The last run in the chain of continuations; undefined if there is none. */
export async function newestContinuation(
  db: Database,
  { taskId, owner }: { taskId: string; owner: string },
): Promise<{ task_id: string; status: string } | undefined> {
  let newest: { task_id: string; status: string } | undefined;
  for (let parent = taskId; ; parent = newest.task_id) {
    const child = await db
      .selectFrom("research_tasks")
      .select(["task_id", "status"])
      .where("parent_task_id", "=", parent)
      .where("followup_context", "is", null)
      .where("owner", "=", owner)
      .orderBy("created_at", "desc")
      .limit(1)
      .executeTakeFirst();
    if (child === undefined) return newest;
    newest = child;
  }
}
