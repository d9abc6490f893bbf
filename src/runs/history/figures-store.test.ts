/** What the judge of citations has cost, in the figures of an owner. */

import { expect, test } from "vitest";
import { insertRun, openDatabase } from "../../../test/kit/store/store-rows.ts";
import { finishedFigures, totalCost } from "./figures-store.ts";

test("what judges have cost is in the figures, unpriced requests marked (W3)", async () => {
  const db = await openDatabase();
  const judged = { priced: { judge_cost_micros: 250_000 }, unpriced: { judge_unpriced: 2 }, unjudged: {} };
  for (const [task_id, judge] of Object.entries(judged)) {
    await insertRun(db, { task_id, status: "completed", cost_usd: 1, completed_at: 2, ...judge });
  }
  const figures = await finishedFigures(db, "local", { since: 0, limit: 10 });
  expect(Object.fromEntries(figures.map(({ taskId, judgeCost }) => [taskId, judgeCost]))).toEqual({
    priced: { usd: 0.25, incomplete: false, estimated: false },
    unpriced: { usd: undefined, incomplete: true, estimated: false },
    unjudged: { usd: undefined, incomplete: false, estimated: false },
  });
  expect(await totalCost(db, "local")).toMatchObject({ usd: 3.25, incomplete: true });
});
