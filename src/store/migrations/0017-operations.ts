/** Index for deleting runs, poll statistics per process, and on PostgreSQL notifications about changed runs. */

import { type Kysely, sql } from "kysely";
import { isShared } from "../dialect.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  // Without it, each deletion scans all runs to check the foreign key.
  await db.schema
    .createIndex("research_tasks_by_parent_task_id")
    .on("research_tasks")
    .columns(["parent_task_id"])
    .where(sql.ref("parent_task_id"), "is not", null)
    .execute();
  // Shown to operators for each polling process.
  for (const column of ["version", "polls_json"]) {
    await db.schema.alterTable("processes").addColumn(column, "text").execute();
  }
  if (isShared(db)) await notifyOfChanges(db);
}

/** The columns that the page shows. Leases, poll times and `updated_at` change far more often and are not shown. */
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
 * Uses triggers, so that every write is covered: by older versions, by hand, or by code added later. Several changes
 * of a run in one transaction cause one notification. The payload contains the run and a truncated hash of the owner.
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
  // Only SQLite still finds changes by `updated_at`. Without this index, and with free space on the page, an update of
  // a run's progress touches no index (HOT), which halves the WAL of the write.
  await db.schema.dropIndex("research_tasks_by_owner_updated_at").execute();
  await sql`alter table research_tasks set (fillfactor = 80)`.execute(db);
}
