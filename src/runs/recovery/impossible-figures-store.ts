/** SQL that clears impossible token counts and costs. */

import { sql } from "kysely";
import type { Database } from "../../store/database.ts";

/** Above 2^53 the driver fails to read the row, and with it the whole query. */
const MAX_COUNT = 1_000_000_000_000;

/** Returns the runs whose figures were cleared. */
export async function clearImpossibleFigures(db: Database): Promise<string[]> {
  const isImpossible = sql<boolean>`(
    tokens_input < 0 or tokens_input > ${MAX_COUNT} or tokens_output < 0 or tokens_output > ${MAX_COUNT} or cost_usd < 0
  )`;
  const found = await db.selectFrom("research_tasks").select("task_id").where(isImpossible).limit(1).executeTakeFirst();
  // The usual case: an update that changes nothing would still wait for the write lock.
  if (found === undefined) return [];
  const rows = await db
    .updateTable("research_tasks")
    .set({ tokens_input: 0, tokens_output: 0, cost_usd: null, usage_final: 0 })
    .where(isImpossible)
    .returning("task_id")
    .execute();
  return rows.map(({ task_id }) => task_id);
}
