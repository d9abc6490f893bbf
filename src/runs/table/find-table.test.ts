/** Which of the runs that made a table of a report is the table. */

import { expect, test } from "vitest";
import { clock, openRunner, request } from "../../../test/kit/store/runner.ts";
import type { Database } from "../../store/database.ts";
import { saveResult } from "../result-store.ts";
import { insertRunning } from "../run-store.ts";
import { joinKeyOf } from "../start/duplicate-start-store.ts";
import { findTable } from "./find-table.ts";

/** Once, because this clock is fast. */
const BEGAN = clock.now();
const COLUMNS = ["Maker", "Price"];
const { owner } = request;
const wanted = { owner, taskId: "report", columns: COLUMNS };
const TABLE = { columns: COLUMNS, rows: [] };

interface Given {
  taskId: string;
  at: number;
  columns?: string[];
  /** Undefined: the run is not completed. */
  metadata?: Record<string, unknown>;
}

async function insert(db: Database, { taskId, at, columns, metadata }: Given): Promise<void> {
  const now = BEGAN + at;
  const run = { owner, client: undefined, processId: "p", query: "One row per pump.", kind: "agent" as const };
  await insertRunning(db, { ...run, taskId, options: { variant: { columns } }, parentTaskId: "report", now });
  await db.updateTable("research_tasks").set({ part: "table" }).where("task_id", "=", taskId).execute();
  const status = metadata === undefined ? "running_async" : "completed";
  await db
    .updateTable("research_tasks")
    .set({ status, followup_context: "stored_report" })
    .where("task_id", "=", taskId)
    .execute();
  if (metadata === undefined) return;
  const result = { report: "Text.", sources: [], metadata, partial: false };
  await db.transaction().execute((transaction) => saveResult(transaction, { taskId, query: run.query, result, now }));
}

test("a completed run without a table neither hides an earlier table nor counts as made (V5)", async (context) => {
  const { db } = (await openRunner(context)).store;
  await insert(db, { taskId: "report", at: 0, metadata: {} });
  expect(await findTable(db, wanted)).toEqual({ table: undefined, withoutTable: undefined });
  await insert(db, { taskId: "prose", at: 2, columns: COLUMNS, metadata: {} });
  const found = async () => {
    const { table, withoutTable } = await findTable(db, wanted);
    return [table?.taskId, withoutTable?.taskId];
  };
  expect(await found()).toEqual([undefined, "prose"]);
  await insert(db, { taskId: "again", at: 3, columns: COLUMNS });
  expect(await found()).toEqual(["again", "prose"]);
  await insert(db, { taskId: "good", at: 1, columns: COLUMNS, metadata: { table: TABLE } });
  expect(await found()).toEqual(["good", "prose"]);
});

test("a table is found after a hundred other follow-ups, the newest first (V5)", async (context) => {
  const { db } = (await openRunner(context)).store;
  await insert(db, { taskId: "report", at: 0, metadata: {} });
  for (let n = 1; n <= 101; n += 1) await insert(db, { taskId: `question ${n}`, at: n });
  await insert(db, { taskId: "older", at: 200, columns: COLUMNS, metadata: { table: TABLE } });
  await insert(db, { taskId: "newer", at: 201, columns: COLUMNS, metadata: { table: TABLE } });
  expect((await findTable(db, wanted)).table?.taskId).toBe("newer");
});

test("a start in place of a run is joined by its like, not by that run's (V5)", () => {
  const start = { ...request, variant: { columns: COLUMNS }, followupOn: "report" };
  const again = { ...start, insteadOf: "prose" };
  expect(joinKeyOf(again)).not.toBe(joinKeyOf(start));
  expect(joinKeyOf({ ...again })).toBe(joinKeyOf(again));
});
