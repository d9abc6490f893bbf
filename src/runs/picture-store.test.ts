import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { chart } from "../../test/kit/browser/pictures.ts";
import { insertRun, openDatabase } from "../../test/kit/store/store-rows.ts";
import { keepPictures } from "../reports/pictures/keep.ts";
import type { Database } from "../store/database.ts";
import { deleteRun } from "./deletion/deletion-store.ts";
import { dropPictures, findPicture, findPictures, savePictures } from "./picture-store.ts";
import { dropResult, findResult, savePartial, saveResult } from "./result-store.ts";
import type { NewResult } from "./run.ts";

const TASK = "00000000-0000-4000-8000-000000000001";

const resultWith = (charts: string[], more: Partial<NewResult> = {}): NewResult => ({
  report: "A report.",
  sources: [],
  metadata: {},
  partial: false,
  pictures: keepPictures(charts.map((data, index) => ({ mimeType: "image/png", data, offsetByte: index }))).pictures,
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
    stored?.pictures?.map(({ n, width, height, mimeType, offsetByte }) => [n, width, height, mimeType, offsetByte]),
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
  await savePartial(db, { taskId: TASK, epoch: 1 }, { result: resultWith([early], { partial: true }), now: 1 });
  expect(await hashes(db)).toEqual([early]);
  await save(db, resultWith([late]));
  expect(await hashes(db)).toEqual([late]);
  // A late poll of a run that has its report changes nothing.
  await savePartial(db, { taskId: TASK, epoch: 1 }, { result: resultWith([early], { partial: true }), now: 3 });
  expect(await hashes(db)).toEqual([late]);
});

test("a dropped result and a deleted run leave no picture behind (S2, V4)", async () => {
  const db = await openRun();
  await save(db, resultWith([chart()]));
  await dropResult(db, TASK);
  expect(await hashes(db)).toEqual([]);
  expect(await contents(db)).toBe(0);
  await save(db, resultWith([chart(), chart()]));
  await db.updateTable("research_tasks").set({ status: "completed", next_poll_at: null }).execute();
  expect(await deleteRun(db, { taskId: TASK, now: 3 })).toBe(true);
  expect(await db.selectFrom("research_pictures").selectAll().execute()).toEqual([]);
  expect(await contents(db)).toBe(0);
});

const OTHER = "00000000-0000-4000-8000-000000000002";

const contents = async (db: Database): Promise<number> =>
  (await db.selectFrom("picture_contents").select("content_hash").execute()).length;

test("a picture is stored once for all runs that have it, and deleted with the last of them (V4)", async () => {
  const db = await openRun();
  await insertRun(db, { task_id: OTHER, status: "completed" });
  const [shared, own] = [chart(), chart()];
  await save(db, resultWith([shared, own, shared]));
  await save(db, resultWith([shared]), OTHER);
  expect(await contents(db)).toBe(2);
  expect(await hashes(db)).toEqual([shared, own, shared]);
  expect(await hashes(db, OTHER)).toEqual([shared]);
  await save(db, resultWith([own]));
  expect([await contents(db), await hashes(db, OTHER)]).toEqual([2, [shared]]);
  expect(await deleteRun(db, { taskId: OTHER, now: 3 })).toBe(true);
  expect([await contents(db), await hashes(db)]).toEqual([1, [own]]);
});

test("a run that stores a picture while another run with it is deleted keeps it (V4)", async () => {
  const db = await openRun();
  await insertRun(db, { task_id: OTHER, status: "completed" });
  const picture = chart();
  await save(db, resultWith([picture]), OTHER);
  const stored = Promise.withResolvers<void>();
  const saving = db.transaction().execute(async (transaction) => {
    await savePictures(transaction, TASK, resultWith([picture]).pictures ?? []);
    stored.resolve();
    await setTimeout(200);
  });
  await stored.promise;
  await db.transaction().execute((transaction) => dropPictures(transaction, [OTHER]));
  await saving;
  expect(await hashes(db)).toEqual([picture]);
});

test("a picture that an earlier version stored with its run is still read (V4)", async () => {
  const db = await openRun();
  const picture = chart();
  await save(db, resultWith([picture]));
  await db
    .updateTable("research_pictures")
    .set({ content: Buffer.from(picture, "base64") })
    .execute();
  await db.deleteFrom("picture_contents").execute();
  expect(await hashes(db)).toEqual([picture]);
});
