import { expect, test } from "vitest";
import { chart } from "../../test/kit/browser/pictures.ts";
import { insertRun, openDatabase } from "../../test/kit/store/store-rows.ts";
import { keepPictures } from "../reports/pictures/keep.ts";
import type { Database } from "../store/database.ts";
import { deleteRun } from "./deletion/deletion-store.ts";
import { findPicture, findPictures } from "./file-store.ts";
import { dropResult, findResult, savePartial, saveResult } from "./result-store.ts";
import type { NewResult } from "./run.ts";

const TASK = "00000000-0000-4000-8000-000000000001";

const resultWith = (charts: string[], more: Partial<NewResult> = {}): NewResult => ({
  report: "A report.",
  sources: [],
  metadata: {},
  partial: false,
  pictures: keepPictures(charts.map((data, index) => ({ mimeType: "image/png", data, offset: index }))).pictures,
  ...more,
});

async function openRun(): Promise<Database> {
  const db = await openDatabase();
  await insertRun(db, { task_id: TASK });
  return db;
}

const save = (db: Database, result: NewResult, taskId = TASK): Promise<void> =>
  db.transaction().execute((transaction) => saveResult(transaction, { taskId, query: "Lakes?", result, now: 2 }));

const hashes = async (db: Database, taskId = TASK): Promise<string[]> =>
  (await findPictures(db, taskId)).map(({ content }) => Buffer.from(content).toString("base64"));

test("pictures and suggestions are read back unchanged, bytes only on request (S2, T-1)", async () => {
  const db = await openRun();
  const charts = [chart(), chart()];
  const searchSuggestions = ["<div>one ☂</div>", "<div>two</div>"];
  await save(db, resultWith(charts, { searchSuggestions }));
  const stored = await findResult(db, TASK);
  expect(stored?.searchSuggestions).toEqual(searchSuggestions);
  expect(
    stored?.pictures?.map(({ n, width, height, mimeType, offset }) => [n, width, height, mimeType, offset]),
  ).toEqual([
    [1, 320, 180, "image/png", 0],
    [2, 320, 180, "image/png", 1],
  ]);
  expect(stored?.pictures?.every((facts) => !("content" in facts))).toBe(true);
  expect(await hashes(db)).toEqual(charts);
  expect((await findPicture(db, TASK, 2))?.hash).toBe(stored?.pictures?.[1]?.hash);
  expect(await findPicture(db, TASK, 3)).toBeUndefined();
});

test("the stored pictures always belong to the stored text (S2)", async () => {
  const db = await openRun();
  const [early, late] = [chart(), chart()];
  await savePartial(
    db,
    { taskId: TASK, interactionId: `v1_${TASK}` },
    { result: resultWith([early], { partial: true }), now: 1 },
  );
  expect(await hashes(db)).toEqual([early]);
  await save(db, resultWith([late]));
  expect(await hashes(db)).toEqual([late]);
  // A late poll of a run that has its report changes nothing.
  await savePartial(
    db,
    { taskId: TASK, interactionId: `v1_${TASK}` },
    { result: resultWith([early], { partial: true }), now: 3 },
  );
  expect(await hashes(db)).toEqual([late]);
});

test("a dropped result and a deleted run leave no picture behind (S2, V4)", async () => {
  const db = await openRun();
  await save(db, resultWith([chart()]));
  await dropResult(db, TASK);
  expect(await hashes(db)).toEqual([]);
  await save(db, resultWith([chart(), chart()]));
  await db.updateTable("research_tasks").set({ status: "completed", next_poll_at: null }).execute();
  expect(await deleteRun(db, { taskIds: [TASK], now: 3 })).toBe(true);
  expect(await db.selectFrom("research_files").selectAll().execute()).toEqual([]);
});
