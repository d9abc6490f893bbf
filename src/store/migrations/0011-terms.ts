/** How a cost is to be taken: a lower bound, or priced by the model's family. */

import type { Kysely } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ["cost_incomplete", "cost_estimated"]) {
    await db.schema.alterTable("research_tasks").addColumn(column, "integer").execute();
  }
}
