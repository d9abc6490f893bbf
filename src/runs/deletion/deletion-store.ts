/** SQL that deletes runs with all their related rows. */

import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { Database, Tables } from "../../store/database.ts";
import { isNotCarriedOn } from "../conversation-store.ts";
import { keepInteractionIds } from "../ledger/ledger-store.ts";
import { lockRun } from "../lock-store.ts";
import { FINISHED, UNFINISHED } from "../run.ts";
import { mayBringReport } from "../scheduling/polled-store.ts";

/** Google keeps an interaction for at most 55 days; after that a lost id cannot be recovered. */
export const UNKNOWN_KEPT_MS = 60 * 86_400_000;

/** The condition for deletion by a user or by retention: the run has ended, and Google can return no more of it. */
const deletable =
  (now: number) =>
  (run: ExpressionBuilder<Tables, "research_tasks">): Expression<SqlBool> =>
    run.and([
      // An unknown start is deletable once its id cannot be recovered, which the condition on attempts below checks.
      // coalesce() prevents the use of an index on status: nearly all runs are in one of these states.
      run(run.fn.coalesce("status", run.val("")), "in", [...FINISHED, "start_unknown"]),
      // A plan that can still be approved.
      run.not(
        run.and([
          run("part", "=", "plan"),
          run("status", "=", "completed"),
          run("deadline_at", ">", now),
          isNotCarriedOn(run),
        ]),
      ),
      // Others are polled for their usage only.
      run.or([run("next_poll_at", "is", null), run.not(mayBringReport(now)(run))]),
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
  "webhooks",
  "research_events",
  "research_evidence",
  "research_files",
  "research_pages",
  "research_results",
  "research_attempts",
] as const satisfies (keyof Tables)[];

/** Longer timelines are deleted in batches of this size. */
const MAX_EVENTS_PER_BATCH = 500;

export interface Deletion {
  /** A run and those that it carries on, the first one first: none is shown without the others. */
  taskIds: string[];
  /** Google has deleted its copies, too, and can report no more usage. */
  atGoogle?: boolean;
  now: number;
}

/**
 * Returns false if one of the runs is not, or no longer, deletable.
 * Their timeline, which may have thousands of rows, is deleted first and in batches, to keep write locks short.
 */
export async function deleteRun(db: Database, deletion: Deletion): Promise<boolean> {
  const { taskIds, atGoogle = false } = deletion;
  while ((await deleteEvents(db, deletion)) === MAX_EVENTS_PER_BATCH);
  return db.transaction().execute(async (transaction) => {
    // Prevents other processes from changing the state between the check and the deletion.
    for (const taskId of taskIds) await lockRun(transaction, taskId);
    if (!(await isDeletable(transaction, deletion))) return false;
    if (!atGoogle) await keepInteractionIds(transaction, taskIds);
    await removeRuns(transaction, taskIds);
    return true;
  });
}

async function removeRuns(transaction: Database, taskIds: string[]): Promise<void> {
  for (const column of ["parent_task_id", "carries_on"] as const) {
    await transaction
      .updateTable("research_tasks")
      .set({ [column]: null })
      .where(column, "in", taskIds)
      .execute();
  }
  await transaction
    .deleteFrom("research_search")
    .where("rowid", "in", (found) =>
      found
        .selectFrom("research_results")
        .select((result) => result.ref("search_rowid").$notNull().as("rowid"))
        .where("task_id", "in", taskIds)
        .where("search_rowid", "is not", null),
    )
    .execute();
  for (const table of TABLES_OF_A_RUN) await transaction.deleteFrom(table).where("task_id", "in", taskIds).execute();
  await transaction.deleteFrom("research_tasks").where("task_id", "in", taskIds).execute();
}

export async function isDeletable(db: Database, { taskIds, now }: Deletion): Promise<boolean> {
  const runs = db.selectFrom("research_tasks").select("task_id").where("task_id", "in", taskIds);
  return (await runs.where(deletable(now)).execute()).length === taskIds.length;
}

function deleteEvents(db: Database, deletion: Deletion): Promise<number> {
  return db.transaction().execute(async (transaction) => {
    for (const taskId of deletion.taskIds) await lockRun(transaction, taskId);
    if (!(await isDeletable(transaction, deletion))) return 0;
    for (const taskId of deletion.taskIds) {
      const events = transaction.selectFrom("research_events").select("seq").where("task_id", "=", taskId);
      const oldest = await events.orderBy("seq").limit(MAX_EVENTS_PER_BATCH).execute();
      const last = oldest.at(-1)?.seq;
      if (last === undefined) continue;
      await transaction.deleteFrom("research_events").where("task_id", "=", taskId).where("seq", "<=", last).execute();
      if (oldest.length === MAX_EVENTS_PER_BATCH) return oldest.length;
    }
    return 0;
  });
}

/** Time of the runs' latest request with unknown outcome: Google may be processing and charging it. */
export async function unknownStartsSince(db: Database, taskIds: string[], since: number): Promise<number | undefined> {
  const row = await db
    .selectFrom("research_attempts")
    .select((select) => select.fn.max("created_at").as("sent"))
    .where("task_id", "in", taskIds)
    .where("state", "in", ["sending", "unknown"])
    .where("interaction_id", "is", null)
    .where("created_at", ">", since)
    .executeTakeFirst();
  return row?.sent ?? undefined;
}

/** The interaction ids of the runs, usually one. */
export async function interactionIdsOf(db: Database, taskIds: string[]): Promise<string[]> {
  const rows = await db
    .selectFrom("research_attempts")
    .select("interaction_id")
    .where("task_id", "in", taskIds)
    .where("interaction_id", "is not", null)
    .execute();
  return rows.flatMap(({ interaction_id }) => interaction_id ?? []);
}

export interface Expired {
  /** Compared with the time the run ended, or was last updated if its start is unknown. */
  before: number;
  now: number;
  limit: number;
}

/** Returns deletable runs that ended before a time, oldest first. */
export async function runsEndedBefore(db: Database, { before, now, limit }: Expired): Promise<string[]> {
  const runs = db.selectFrom("research_tasks").select("task_id").where(deletable(now)).limit(limit);
  const ended = await runs.where("completed_at", "<", before).orderBy("completed_at").execute();
  // Unknown starts have no completed_at. They are few, so there is no index for them.
  const unknown =
    ended.length > 0
      ? []
      : await runs.where("status", "=", "start_unknown").where("updated_at", "<", before).orderBy("task_id").execute();
  return [...ended, ...unknown].map(({ task_id }) => task_id);
}

/** The latest time stored in any run: `completed_at` of finished runs, `updated_at` of others. */
export async function lastUpdate(db: Database): Promise<number | undefined> {
  const latest = (column: "completed_at" | "updated_at") =>
    db.selectFrom("research_tasks").select((select) => select.fn.max(column).as("at"));
  const ended = await latest("completed_at").executeTakeFirst();
  const written = await latest("updated_at").where("status", "in", UNFINISHED).executeTakeFirst();
  const times = [ended?.at, written?.at].filter((at) => typeof at === "number");
  return times.length === 0 ? undefined : Math.max(...times);
}
