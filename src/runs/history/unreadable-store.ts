/** The SQL of stored figures that no program can read: they are set aside, so that they stop nothing else. */

import { sql } from "kysely";
import type { Database } from "../../store/database.ts";

/** More than this is no count, and beyond 2^53 a driver refuses to read the row, and every row beside it. */
const MAX_COUNT = 1_000_000_000_000;

/** Token counts and costs that cannot be true become unknown. Returns the runs they belonged to. */
export async function setAsideUnreadable(db: Database): Promise<string[]> {
  const isOdd = sql<boolean>`(
    tokens_input < 0 or tokens_input > ${MAX_COUNT} or tokens_output < 0 or tokens_output > ${MAX_COUNT} or cost_usd < 0
  )`;
  const odd = await db.selectFrom("research_tasks").select("task_id").where(isOdd).limit(1).executeTakeFirst();
  // Nearly always: and an update that changes nothing would still wait for the write lock.
  if (odd === undefined) return [];
  const rows = await db
    .updateTable("research_tasks")
    .set({ tokens_input: 0, tokens_output: 0, cost_usd: null, usage_final: 0 })
    .where(isOdd)
    .returning("task_id")
    .execute();
  return rows.map(({ task_id }) => task_id);
}
