/** The initial schema: runs, attempts, results, rounds, events, notifications, processes and slots. */

import type { Kysely } from "kysely";
import { failpoint } from "../../platform/failpoint.ts";
import { columnTypes } from "../dialect.ts";
import { createFullText } from "../full-text.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  const types = columnTypes(db);
  await db.schema
    .createTable("research_tasks")
    .addColumn("task_id", "text", (column) => column.primaryKey())
    .addColumn("owner", "text", (column) => column.notNull().defaultTo("local"))
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("query", "text", (column) => column.notNull())
    .addColumn("status", "text", (column) => column.notNull().defaultTo("pending"))
    .addColumn("progress", "integer", (column) => column.notNull().defaultTo(0))
    .addColumn("current_action", "text")
    .addColumn("mode", "text")
    .addColumn("backend", "text")
    .addColumn("model", "text")
    .addColumn("options_json", "text", (column) => column.notNull().defaultTo("{}"))
    .addColumn("join_key", "text")
    .addColumn("estimate_json", "text")
    .addColumn("client", "text")
    .addColumn("parent_task_id", "text", (column) => column.references("research_tasks.task_id"))
    .addColumn("enable_notifications", "integer", (column) => column.notNull().defaultTo(1))
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("started_at", "bigint")
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addColumn("completed_at", "bigint")
    .addColumn("deadline_at", "bigint")
    .addColumn("interaction_id", "text")
    .addColumn("lease_owner", "text")
    .addColumn("lease_epoch", "integer", (column) => column.notNull().defaultTo(0))
    .addColumn("lease_until", "bigint")
    .addColumn("next_poll_at", "bigint")
    .addColumn("last_event_at", "bigint")
    .addColumn("cancel_requested_at", "bigint")
    .addColumn("cancel_confirmed", "integer")
    .addColumn("keep_partial", "integer", (column) => column.notNull().defaultTo(1))
    .addColumn("tokens_input", "bigint", (column) => column.notNull().defaultTo(0))
    .addColumn("tokens_output", "bigint", (column) => column.notNull().defaultTo(0))
    .addColumn("cost_usd", types.real)
    .addColumn("usage_final", "integer", (column) => column.notNull().defaultTo(0))
    .addColumn("error_code", "text")
    .addColumn("error_message", "text")
    .execute();
  await index(db, "research_tasks", ["owner", "created_at", "task_id"]);
  await index(db, "research_tasks", ["status", "next_poll_at"]);
  await index(db, "research_tasks", ["join_key", "created_at"]);

  await db.schema
    .createTable("research_attempts")
    .addColumn("attempt_id", "text", (column) => column.primaryKey())
    .addColumn("task_id", "text", (column) => column.notNull().references("research_tasks.task_id"))
    .addColumn("interaction_id", "text")
    .addColumn("state", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("sent_at", "bigint")
    .addColumn("answered_at", "bigint")
    .addColumn("key_fingerprint", "text")
    .addColumn("base_url", "text")
    .execute();
  await index(db, "research_attempts", ["task_id"]);

  await db.schema
    .createTable("research_results")
    .addColumn("task_id", "text", (column) => column.primaryKey().references("research_tasks.task_id"))
    .addColumn("report_markdown", "text", (column) => column.notNull())
    .addColumn("sources_json", "text", (column) => column.notNull())
    .addColumn("citations_json", "text", (column) => column.notNull())
    .addColumn("metadata_json", "text", (column) => column.notNull())
    .addColumn("raw", types.bytes)
    .addColumn("partial", "integer", (column) => column.notNull())
    .addColumn("saved_at", "bigint", (column) => column.notNull())
    .execute();

  await db.schema
    .createTable("research_rounds")
    .addColumn("task_id", "text", (column) => column.notNull().references("research_tasks.task_id"))
    .addColumn("round_number", "integer", (column) => column.notNull())
    .addColumn("report_markdown", "text", (column) => column.notNull())
    .addColumn("verified", "integer", (column) => column.notNull())
    .addColumn("summary", "text", (column) => column.notNull())
    .addColumn("sources_json", "text", (column) => column.notNull())
    .addColumn("queries_json", "text", (column) => column.notNull())
    .addColumn("metadata_json", "text", (column) => column.notNull())
    .addColumn("completed_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("research_rounds_key", ["task_id", "round_number"])
    .execute();

  await db.schema
    .createTable("research_events")
    .addColumn("task_id", "text", (column) => column.notNull().references("research_tasks.task_id"))
    .addColumn("seq", "integer", (column) => column.notNull())
    .addColumn("at", "bigint", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("data_json", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("research_events_key", ["task_id", "seq"])
    .execute();
  failpoint("during-migration");

  await db.schema
    .createTable("notification_outbox")
    .addColumn("outbox_id", types.numbered, types.numberedKey)
    .addColumn("task_id", "text", (column) => column.notNull().references("research_tasks.task_id"))
    .addColumn("channel", "text", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("payload_json", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("claimed_by", "text")
    .addColumn("claimed_at", "bigint")
    .addColumn("sent_at", "bigint")
    .addUniqueConstraint("notification_once", ["task_id", "channel", "kind"])
    .execute();

  await db.schema
    .createTable("processes")
    .addColumn("process_id", "text", (column) => column.primaryKey())
    .addColumn("host", "text", (column) => column.notNull())
    .addColumn("pid", "integer", (column) => column.notNull())
    .addColumn("start_mark", "text")
    .addColumn("started_at", "bigint", (column) => column.notNull())
    .execute();

  await db.schema
    .createTable("slots")
    .addColumn("slot_id", "text", (column) => column.primaryKey())
    .addColumn("pool", "text", (column) => column.notNull())
    .addColumn("process_id", "text", (column) => column.notNull())
    .addColumn("taken_at", "bigint", (column) => column.notNull())
    .addColumn("lease_until", "bigint", (column) => column.notNull())
    .execute();
  await index(db, "slots", ["pool"]);

  await db.schema
    .createTable("held_files")
    .addColumn("file_name", "text", (column) => column.primaryKey())
    .addColumn("process_id", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .execute();

  await createFullText(db);
}

function index(db: Kysely<unknown>, table: string, columns: string[]): Promise<void> {
  return db.schema
    .createIndex(`${table}_by_${columns.join("_")}`)
    .on(table)
    .columns(columns)
    .execute();
}
