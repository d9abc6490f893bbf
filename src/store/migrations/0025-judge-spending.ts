/** What the judge of a run's citations has cost, for the usage figures, and Google's grounding supports of a search. */

import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ["judge_cost_micros", "judge_unpriced"]) {
    await db.schema
      .alterTable("research_tasks")
      .addColumn(column, "bigint", (definition) => definition.notNull().defaultTo(0))
      .execute();
  }
  await sql`
    update research_tasks set judge_cost_micros = (
      select judge_cost_micros from research_claims where research_claims.task_id = research_tasks.task_id
    ) where task_id in (select task_id from research_claims where judge_cost_micros > 0)`.execute(db);
  await sql`
    update research_tasks set judge_unpriced = (
      select judge_requests from research_claims where research_claims.task_id = research_tasks.task_id
    ) where task_id in (select task_id from research_claims where judge_requests > 0 and judge_cost_micros = 0)`.execute(
    db,
  );
  await db.schema.alterTable("research_results").addColumn("supports_json", "text").execute();
}
