/** The SQL that removes runs with everything that belongs to them. */

import type { Database, Tables } from "../../store/database.ts";
import { isFinished, RUN_STATUSES } from "../run.ts";

const FINISHED = RUN_STATUSES.filter(isFinished);

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

/**
 * True when the run is gone. One that is not finished (any more) is left as it is.
 * Its timeline, which may have thousands of rows, goes first and in pieces: no other writer waits long.
 */
export async function deleteRun(db: Database, taskId: string): Promise<boolean> {
  if (!(await isDeletable(db, taskId))) return false;
  while ((await deleteEvents(db, taskId)) === EVENTS_AT_ONCE);
  return db.transaction().execute(async (transaction) => {
    // A write first: from here no other process can change the state that is checked below.
    await transaction
      .updateTable("research_tasks")
      .set({ parent_task_id: null })
      .where("parent_task_id", "=", taskId)
      .execute();
    if (!(await isDeletable(transaction, taskId))) return false;
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

async function isDeletable(db: Database, taskId: string): Promise<boolean> {
  const run = db.selectFrom("research_tasks").select("task_id").where("task_id", "=", taskId);
  return (await run.where("status", "in", FINISHED).executeTakeFirst()) !== undefined;
}

async function deleteEvents(db: Database, taskId: string): Promise<number> {
  const oldest = await db
    .selectFrom("research_events")
    .select("seq")
    .where("task_id", "=", taskId)
    .orderBy("seq")
    .limit(EVENTS_AT_ONCE)
    .execute();
  const last = oldest.at(-1)?.seq;
  if (last === undefined) return 0;
  await db.deleteFrom("research_events").where("task_id", "=", taskId).where("seq", "<=", last).execute();
  return oldest.length;
}

/** The requests of a run whose outcome nobody knows: Google may be working on them, and charge them. */
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

/** Finished runs that ended before a time and that nobody follows any more, the oldest first. */
export async function runsEndedBefore(db: Database, before: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom("research_tasks")
    .select("task_id")
    .where("completed_at", "<", before)
    .where("status", "in", FINISHED)
    .where("next_poll_at", "is", null)
    .where((run) =>
      run.not(
        run.exists(
          run
            .selectFrom("research_attempts")
            .select("attempt_id")
            .whereRef("research_attempts.task_id", "=", "research_tasks.task_id")
            .where("research_attempts.state", "in", ["sending", "unknown"])
            .where("research_attempts.interaction_id", "is", null),
        ),
      ),
    )
    .orderBy("completed_at")
    .orderBy("task_id")
    .limit(limit)
    .execute();
  return rows.map(({ task_id }) => task_id);
}
