/** Claims of a report, the checks of the pages that it cites, and what each page says about a claim. */

import type { Kysely } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("research_claims")
    .addColumn("task_id", "text", (column) =>
      column.primaryKey().references("research_tasks.task_id").onDelete("cascade"),
    )
    .addColumn("report_hash", "text", (column) => column.notNull())
    .addColumn("claims_json", "text", (column) => column.notNull())
    .addColumn("judge_requests", "integer", (column) => column.notNull().defaultTo(0))
    .addColumn("judge_tokens_input", "bigint", (column) => column.notNull().defaultTo(0))
    .addColumn("judge_tokens_output", "bigint", (column) => column.notNull().defaultTo(0))
    .addColumn("judge_cost_micros", "bigint", (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema
    .createTable("research_pages")
    .addColumn("task_id", "text", (column) => column.notNull().references("research_tasks.task_id").onDelete("cascade"))
    .addColumn("source", "integer", (column) => column.notNull())
    .addColumn("outcome", "text", (column) => column.notNull())
    .addColumn("reason", "text")
    .addColumn("url", "text", (column) => column.notNull())
    .addColumn("final_url", "text", (column) => column.notNull())
    .addColumn("http_status", "integer")
    .addColumn("text_hash", "text")
    .addColumn("shingles_json", "text")
    .addColumn("title", "text")
    .addColumn("published", "text")
    .addColumn("author", "text")
    .addColumn("checked_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("research_pages_key", ["task_id", "source"])
    .execute();
  await db.schema
    .createTable("research_evidence")
    .addColumn("task_id", "text", (column) => column.notNull().references("research_tasks.task_id").onDelete("cascade"))
    .addColumn("claim", "integer", (column) => column.notNull())
    .addColumn("source", "integer", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("verdict", "text", (column) => column.notNull())
    .addColumn("reason", "text")
    .addColumn("passage", "text")
    .addColumn("judged", "integer", (column) => column.notNull())
    .addColumn("checked_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("research_evidence_key", ["task_id", "claim", "source", "kind"])
    .execute();
  await db.schema.alterTable("research_results").addColumn("citations_checked_at", "bigint").execute();
}
