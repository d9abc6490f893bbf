/** What the judge of citations has cost, in the figures of an owner. */

import type { Kysely } from "kysely";
import { expect, test } from "vitest";
import { insertRun, openDatabase } from "../../../test/kit/store/store-rows.ts";
import { up as addJudgeColumns } from "../../store/migrations/0025-judge-spending.ts";
import { finishedFigures, totalCost } from "./figures-store.ts";

test("what judges have cost before it was counted with the run is in the figures, unpriced requests marked (W3)", async () => {
  const db = await openDatabase();
  for (const column of ["judge_cost_micros", "judge_unpriced"])
    await db.schema.alterTable("research_tasks").dropColumn(column).execute();
  await db.schema.alterTable("research_results").dropColumn("supports_json").execute();
  const judged = { priced: [3, 250_000], unpriced: [2, 0], unjudged: [0, 0] };
  for (const [task_id, [requests, micros]] of Object.entries(judged)) {
    await insertRun(db, { task_id, status: "completed", cost_usd: 1, completed_at: 2 });
    const claims = { task_id, report_hash: "", claims_json: "[]" };
    await db
      .insertInto("research_claims")
      .values({ ...claims, judge_requests: requests, judge_cost_micros: micros })
      .execute();
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a migration knows no tables yet
  await addJudgeColumns(db as unknown as Kysely<unknown>);
  const figures = await finishedFigures(db, "local", { since: 0, limit: 10 });
  expect(Object.fromEntries(figures.map(({ taskId, judgeCost }) => [taskId, judgeCost]))).toEqual({
    priced: { usd: 0.25, incomplete: false, estimated: false },
    unpriced: { usd: undefined, incomplete: true, estimated: false },
    unjudged: { usd: undefined, incomplete: false, estimated: false },
  });
  expect(await totalCost(db, "local")).toMatchObject({ usd: 3.25, incomplete: true });
});
