/** The SQL that removes runs with everything that belongs to them. */

import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { Database, Tables } from "../../store/database.ts";
import { holdRun } from "../hold-store.ts";
import { isFinished, RUN_STATUSES } from "../run.ts";

const FINISHED = RUN_STATUSES.filter(isFinished);

/** Google keeps an interaction for at most 55 days: after that no lost id can be found again. */
export const UNKNOWN_KEPT_MS = 60 * 86_400_000;

/** The one rule of what may be deleted, by hand and by the sweep: it has ended, and Google can bring nothing more of it. */
const deletable =
  (now: number) =>
  (run: ExpressionBuilder<Tables, "research_tasks">): Expression<SqlBool> =>
    run.and([
      // A start of unknown outcome is over when its id can no longer be found, which its attempts below say.
      run("status", "in", [...FINISHED, "start_unknown"]),
      // A completed run is polled for its usage only; any other may still work, and be charged.
      run.or([run("next_poll_at", "is", null), run("status", "=", "completed")]),
      run.not(
        run.exists(
          run
            .selectFrom("research_attempts")
            .select("attempt_id")
            .whereRef("research_attempts.task_id", "=", "research_tasks.task_id")
            .where("research_attempts.state", "in", ["sending", "unknown"])
            .where("research_attempts.interaction_id", "is", null)
            .where("research_attempts.created_at", ">", now - UNKNOWN_KEPT_MS),
        ),
      ),
    ]);

/** The tables, other than the search index, whose rows belong to a run by `task_id`. */
export const TABLES_OF_A_RUN = [
  "notification_outbox",
  "research_events",
  "research_pictures",
  "research_rounds",
  "research_results",
  "research_attempts",
] as const satisfies (keyof Tables)[];

const EVENTS_AT_ONCE = 500;

export interface Deletion {
  taskId: string;
  now: number;
}

/**
 * True when the run is gone. One that may not be deleted (any more) is left as it is.
 * Its timeline, which may have thousands of rows, goes first and in pieces: no other writer waits long.
 */
export async function deleteRun(db: Database, deletion: Deletion): Promise<boolean> {
  const { taskId } = deletion;
  while ((await deleteEvents(db, deletion)) === EVENTS_AT_ONCE);
  return db.transaction().execute(async (transaction) => {
    // From here no other process can change the state that is checked.
    await holdRun(transaction, taskId);
    if (!(await isDeletable(transaction, deletion))) return false;
    await transaction
      .updateTable("research_tasks")
      .set({ parent_task_id: null })
      .where("parent_task_id", "=", taskId)
      .execute();
    await transaction
      .deleteFrom("research_search")
      .where("rowid", "=", (found) =>
        found.selectFrom("research_results").select("search_rowid").where("task_id", "=", taskId),
      )
      .execute();
    for (const table of TABLES_OF_A_RUN) await transaction.deleteFrom(table).where("task_id", "=", taskId).execute();
    await transaction.deleteFrom("research_tasks").where("task_id", "=", taskId).execute();
    return true;
  });
}

export async function isDeletable(db: Database, { taskId, now }: Deletion): Promise<boolean> {
  const run = db.selectFrom("research_tasks").select("task_id").where("task_id", "=", taskId);
  return (await run.where(deletable(now)).executeTakeFirst()) !== undefined;
}

function deleteEvents(db: Database, deletion: Deletion): Promise<number> {
  const { taskId } = deletion;
  return db.transaction().execute(async (transaction) => {
    await holdRun(transaction, taskId);
    if (!(await isDeletable(transaction, deletion))) return 0;
    const events = transaction.selectFrom("research_events").select("seq").where("task_id", "=", taskId);
    const oldest = await events.orderBy("seq").limit(EVENTS_AT_ONCE).execute();
    const last = oldest.at(-1)?.seq;
    if (last === undefined) return 0;
    await transaction.deleteFrom("research_events").where("task_id", "=", taskId).where("seq", "<=", last).execute();
    return oldest.length;
  });
}

/** The requests of a run whose outcome is not known: Google may be working on them, and charge them. */
export async function unknownStartsSince(db: Database, taskId: string, since: number): Promise<number | undefined> {
  const row = await db
    .selectFrom("research_attempts")
    .select((select) => select.fn.max("created_at").as("sent"))
    .where("task_id", "=", taskId)
    .where("state", "in", ["sending", "unknown"])
    .where("interaction_id", "is", null)
    .where("created_at", ">", since)
    .executeTakeFirst();
  return row?.sent ?? undefined;
}

/** Google's ids of a run itself: usually one. Not those that another run follows, which may still work. */
export async function interactionIdsOf(db: Database, taskId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("research_attempts")
    .select("interaction_id")
    .where("task_id", "=", taskId)
    .where("interaction_id", "is not", null)
    .where("state", "!=", "duplicate")
    .where((attempt) =>
      attempt.not(
        attempt.exists(
          attempt
            .selectFrom("research_tasks")
            .select("research_tasks.task_id")
            .whereRef("research_tasks.interaction_id", "=", "research_attempts.interaction_id")
            .where("research_tasks.task_id", "!=", taskId),
        ),
      ),
    )
    .execute();
  return rows.flatMap(({ interaction_id }) => interaction_id ?? []);
}

export interface Expired {
  /** When it ended, or was last heard of. */
  before: number;
  now: number;
  limit: number;
}

/** What may be deleted and is over since before a time, the oldest first. */
export async function runsEndedBefore(db: Database, { before, now, limit }: Expired): Promise<string[]> {
  const runs = db.selectFrom("research_tasks").select("task_id").where(deletable(now)).orderBy("task_id").limit(limit);
  const ended = await runs.where("completed_at", "<", before).clearOrderBy().orderBy("completed_at").execute();
  const unknown = await runs.where("status", "=", "start_unknown").where("updated_at", "<", before).execute();
  return [...ended, ...unknown].slice(0, limit).map(({ task_id }) => task_id);
}

/** When anything was last written about a run, by the clock of then. */
export async function lastUpdate(db: Database): Promise<number | undefined> {
  const row = await db
    .selectFrom("research_tasks")
    .select((select) => select.fn.max("updated_at").as("newest"))
    .executeTakeFirst();
  return row?.newest ?? undefined;
}
