/** SQL that clears impossible token counts and costs. */

import { sql } from "kysely";
import type { Database } from "../../store/database.ts";

/** Far above the tokens of any run, and above its cost in any unit. */
const MAX_FIGURE = 1_000_000_000_000;

type Figure = "tokens_input" | "tokens_output" | "cost_usd" | "judge_cost_micros";

const isImpossible = (...figures: Figure[]) =>
  sql<boolean>`(${sql.join(
    figures.map((figure) => sql`${sql.ref(figure)} < 0 or ${sql.ref(figure)} > ${MAX_FIGURE}`),
    sql` or `,
  )})`;

/** Figures that belong together, and the values that mean they are unknown. */
const GROUPS = [
  {
    where: isImpossible("tokens_input", "tokens_output", "cost_usd"),
    unknown: { tokens_input: 0, tokens_output: 0, cost_usd: null, usage_final: 0 },
  },
  {
    where: isImpossible("judge_cost_micros"),
    unknown: { judge_cost_micros: 0, judge_unpriced: 1 },
  },
] as const;

/** Returns the runs whose figures were cleared. */
export async function clearImpossibleFigures(db: Database): Promise<string[]> {
  const cleared = new Set<string>();
  for (const { where, unknown } of GROUPS) {
    const found = await db.selectFrom("research_tasks").select("task_id").where(where).limit(1).executeTakeFirst();
    // The usual case: an update that changes nothing would still wait for the write lock.
    if (found === undefined) continue;
    const rows = await db.updateTable("research_tasks").set(unknown).where(where).returning("task_id").execute();
    for (const { task_id } of rows) cleared.add(task_id);
  }
  return [...cleared];
}
