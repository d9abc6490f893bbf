/** What a user notes on a run: its title, its star, and whether it is archived. */

import { type Kysely, sql } from "kysely";
import { isShared } from "../dialect.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  const runs = db.schema.alterTable("research_tasks");
  await runs.addColumn("title", "text").execute();
  for (const flag of ["starred", "archived"]) {
    await runs.addColumn(flag, "integer", (column) => column.notNull().defaultTo(sql`0`)).execute();
  }
  await createIndexes(db);
  if (isShared(db)) await notifyOfMarks(db);
}

/**
 * One of a million runs may be archived or all but one: neither list must read the other's runs, whatever it is filtered
 * by. Without `archived` in front, SQLite, which has no statistics, would use the indexes of migration 0002 and read them.
 */
async function createIndexes(db: Kysely<unknown>): Promise<void> {
  for (const filter of [[], ["status"], ["kind"]]) {
    await db.schema
      .createIndex(`research_tasks_by_${["owner", "archived", ...filter].join("_")}_created_at_task_id`)
      .on("research_tasks")
      .columns(["owner", "archived", ...filter, "created_at", "task_id"])
      .execute();
  }
  await db.schema
    .createIndex("research_tasks_by_owner_starred_archived_created_at_task_id")
    .on("research_tasks")
    .columns(["owner", "starred", "archived", "created_at", "task_id"])
    .where(sql.ref("starred"), "=", sql.lit(1))
    .execute();
}

const MARKS = ["title", "starred", "archived"];

const listed = (of: "old" | "new") => MARKS.map((column) => `${of}.${column}`).join(", ");

/** Beside the trigger of migration 0017, which covers what the program itself changes. */
async function notifyOfMarks(db: Kysely<unknown>): Promise<void> {
  await sql`
    create trigger research_tasks_marked after update of ${sql.raw(MARKS.join(", "))} on research_tasks
    for each row when ((${sql.raw(listed("old"))}) is distinct from (${sql.raw(listed("new"))}))
    execute function notify_run_changed()`.execute(db);
}
