/** SQL for the runs that are polled. */

import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { Engine } from "../engine/engine.ts";
import type { Database, Tables } from "../../store/database.ts";
import { isShared } from "../../store/dialect.ts";
import { RUN_COST } from "../ledger/ledger-store.ts";
import type { RunAtGoogle } from "../run.ts";
import { type Row, runAtGoogleOf } from "../run-row.ts";

const polledRuns = (db: Database) =>
  db.selectFrom("research_tasks").where("next_poll_at", "is not", null).where("interaction_id", "is not", null);

/** The rows of the runs that are still polled. */
export async function readPolledRuns(db: Database, taskIds: string[]): Promise<Map<string, Row>> {
  const rows = await polledRuns(db)
    .selectAll("research_tasks")
    .select(RUN_COST)
    .where("task_id", "in", taskIds)
    .execute();
  return new Map(rows.map((row) => [row.task_id, row]));
}

/** The given runs that are still polled, with their poll keys. */
export const keysOfPolledRuns = (db: Database, taskIds: string[]) =>
  polledRuns(db).select(["task_id as taskId", "poll_key as key"]).where("task_id", "in", taskIds).execute();

export const allPolledRuns = (db: Database) =>
  polledRuns(db).select(["task_id as taskId", "poll_key as key", "owner"]).execute();

/** A report of the polled run may arrive. Others are polled now and then, for their usage only. */
export const mayBringReport =
  (now: number) =>
  (run: ExpressionBuilder<Tables, "research_tasks">): Expression<SqlBool> =>
    run.or([
      run("status", "=", "running_async"),
      run.and([run("status", "in", ["failed", "cancelled"]), run("deadline_at", ">", now)]),
    ]);

/** Most usage arrives within seconds after the end of its run. */
const USAGE_MS = 60_000;

/** Those whose report or usage is expected soon. */
export async function countPolledRuns(db: Database, now: number): Promise<number> {
  const row = await db
    .selectFrom("research_tasks")
    .select((select) => select.fn.countAll<number>().as("running"))
    .where("next_poll_at", "is not", null)
    .where((run) => run.or([mayBringReport(now)(run), run("completed_at", ">", now - USAGE_MS)]))
    .executeTakeFirstOrThrow();
  return row.running;
}

/** The runs of each owner that share the rate of this key. */
export async function countByOwner(
  db: Database,
  { key, now }: { key: string; now: number },
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["owner", (select) => select.fn.countAll<number>().as("runs")])
    .where("next_poll_at", "is not", null)
    .where(mayBringReport(now))
    .$if(isShared(db), (query) =>
      query.where((run) => run.or([run("poll_key", "=", key), run("poll_key", "is", null)])),
    )
    .groupBy("owner")
    .execute();
  return new Map(rows.map(({ owner, runs }) => [owner, runs]));
}

/** Ends polling of the runs, except those that were reopened, with a new deadline, or got another interaction. */
export async function endPolling(
  db: Database,
  runs: Pick<Row, "task_id" | "deadline_at" | "interaction_id">[],
): Promise<void> {
  for (const { task_id, deadline_at, interaction_id } of runs) {
    await db
      .updateTable("research_tasks")
      .set({ next_poll_at: null })
      .where("task_id", "=", task_id)
      .where("deadline_at", "is not distinct from", deadline_at)
      .where("interaction_id", "=", interaction_id)
      .execute();
  }
}

/** Runs whose key no process has, and whose deadline has passed or whose obstacle is not this yet. */
export const withoutKey = (
  db: Database,
  { keys, now, limit }: { keys: string[]; now: number; limit: number },
): Promise<Row[]> =>
  polledRuns(db)
    .selectAll("research_tasks")
    .select(RUN_COST)
    .where("status", "=", "running_async")
    .where("poll_key", "not in", ["", ...keys])
    .where((run) =>
      run.or([
        run("deadline_at", "<=", now),
        run("obstacle", "is", null),
        run("obstacle", "not in", ["other_key", "other_address"]),
      ]),
    )
    .orderBy("deadline_at")
    .limit(limit)
    .execute();

/** Schedules the run before all due runs, because a caller waits for it. Returns false if its poll is in flight. */
export async function pollNow({ db, queue }: { db: Database; queue: Engine }, taskId: string): Promise<boolean> {
  const run = await db
    .selectFrom("research_tasks")
    .select("poll_key as key")
    .where("task_id", "=", taskId)
    .where("status", "=", "running_async")
    .executeTakeFirst();
  // A run that has ended needs no poll.
  return run === undefined || queue.hasten({ taskId, key: run.key });
}

/** The run of an interaction that Google is still working on, as far as we know. */
export async function runOfInteraction(db: Database, interactionId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("research_tasks")
    .select("task_id")
    .where("interaction_id", "=", interactionId)
    .where("status", "=", "running_async")
    .executeTakeFirst();
  return row?.task_id;
}

/** Whether the stored state says that Google is working on the run. */
export async function isRunningAtGoogle(db: Database, taskId: string): Promise<boolean> {
  const row = await db.selectFrom("research_tasks").select("status").where("task_id", "=", taskId).executeTakeFirst();
  return row?.status === "running_async";
}

/** Every process that polls, starts or executes a run. */
export async function runHolders(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom("research_tasks")
    .select("lease_owner")
    .distinct()
    .where((run) =>
      run.or([
        run("status", "in", ["pending", "running"]),
        run.and([run("next_poll_at", "is not", null), run("lease_until", "is not", null)]),
      ]),
    )
    .execute();
  return rows.flatMap(({ lease_owner }) => lease_owner ?? []);
}

/** Read-only, for use while the database rejects writes. */
export async function unfinishedInteractions(db: Database, limit: number): Promise<RunAtGoogle[]> {
  const rows = await db
    .selectFrom("research_tasks")
    .selectAll("research_tasks")
    .select(RUN_COST)
    .where("status", "=", "running_async")
    .where("interaction_id", "is not", null)
    .orderBy("next_poll_at")
    .limit(limit)
    .execute();
  return rows.map(runAtGoogleOf);
}
