import { expect, test } from "vitest";
import { insertRun, openDatabase } from "../../test/kit/store/store-rows.ts";
import { reportPresence, saveResult } from "./result-store.ts";

const TASK = "00000000-0000-4000-8000-000000000001";

test("a result that has other data of Google but no text is no report, until its text arrives (L1)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: TASK });
  const save = (report: string): Promise<void> =>
    db.transaction().execute((transaction) => {
      const result = { report, sources: [], metadata: {}, partial: false };
      return saveResult(transaction, { taskId: TASK, query: "Lakes?", result, now: 2 });
    });
  await save(" \n");
  expect(await reportPresence(db, TASK)).toBeUndefined();
  await save("A report.");
  expect(await reportPresence(db, TASK)).toEqual({ partial: false });
});
