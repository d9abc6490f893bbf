/** Cheap deletion of runs, polls counted per process, and on PostgreSQL notifications about changed runs. */

import { type Kysely, sql } from "kysely";
import { isShared } from "../dialect.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  // Without it, the foreign key reads all runs for each one that is deleted.
  await db.schema
    .createIndex("research_tasks_by_parent_task_id")
    .on("research_tasks")
    .columns(["parent_task_id"])
    .where(sql.ref("parent_task_id"), "is not", null)
    .execute();
  // What an operator is shown of the processes that poll.
  for (const column of ["version", "polls_json"]) {
    await db.schema.alterTable("processes").addColumn(column, "text").execute();
  }
  if (isShared(db)) await notifyOfChanges(db);
}

/** The columns that an open page shows. Leases, poll times and write dates change far more often and are not shown. */
const SHOWN = [
  "status",
  "progress",
  "current_action",
  "last_event_at",
  "interaction_id",
  "cancel_requested_at",
  "cancel_confirmed",
  "tokens_input",
  "tokens_output",
  "cost_usd",
  "usage_final",
  "error_code",
];

const listed = (of: "old" | "new") => SHOWN.map((column) => `${of}.${column}`).join(", ");

/**
 * A trigger, so that no writer can forget it: of an older version, by hand, or added later. Several changes of one run
 * in one transaction are one notification. The payload names no user: only the start of a hash, and the run.
 */
async function notifyOfChanges(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function notify_run_changed() returns trigger language plpgsql as $$
    begin
      perform pg_notify('gemini_search_runs',
        left(encode(sha256(convert_to(new.owner, 'UTF8')), 'hex'), 16) || ' ' || new.task_id);
      return null;
    end $$`.execute(db);
  await sql`
    create trigger research_tasks_inserted after insert on research_tasks
    for each row execute function notify_run_changed()`.execute(db);
  await sql`
    create trigger research_tasks_changed after update of ${sql.raw(SHOWN.join(", "))} on research_tasks
    for each row when ((${sql.raw(listed("old"))}) is distinct from (${sql.raw(listed("new"))}))
    execute function notify_run_changed()`.execute(db);
  // Only SQLite still finds changes by their date. Without this index, and with room on its page, an update of a run's
  // progress touches no index (HOT), which halves the WAL of the write.
  await db.schema.dropIndex("research_tasks_by_owner_updated_at").execute();
  await sql`alter table research_tasks set (fillfactor = 80)`.execute(db);
}
