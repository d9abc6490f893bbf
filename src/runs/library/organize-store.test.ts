import { describe, expect, test } from "vitest";
import { insertRun, openDatabase, rowOf } from "../../../test/kit/store/store-rows.ts";
import type { Database } from "../../store/database.ts";
import { countFound, searchQuestions, searchReports, searchWords } from "../history/search-store.ts";
import { saveResult } from "../result-store.ts";
import { saveSourceFacts } from "../links/link-store.ts";
import type { Source } from "../../reports/report.ts";
import { listRuns } from "../run-store.ts";
import { transition } from "../transition-store.ts";
import { countListed } from "./count-store.ts";
import { listTags, organizeRun, type RunMarks } from "./organize-store.ts";

const QUERY = "How deep is the lake?";

async function insertReport(db: Database, task_id: string, report = "It is 250 metres deep."): Promise<void> {
  await insertRun(db, { task_id, query: QUERY, status: "completed" });
  await saveReport(db, task_id, report);
}

const saveReport = (db: Database, taskId: string, report: string, sources: Source[] = []): Promise<void> =>
  db.transaction().execute((transaction) =>
    saveResult(transaction, {
      taskId,
      query: QUERY,
      result: { report, sources, metadata: {}, partial: false },
      now: 1,
    }),
  );

const organize = (db: Database, taskId: string, marks: Partial<RunMarks>) =>
  organizeRun(db, {
    owner: "local",
    taskId,
    title: undefined,
    starred: undefined,
    archived: undefined,
    now: 50,
    ...marks,
  });

const search = (typed: string, more: { starred?: boolean; tag?: string; archived?: boolean } = {}) => ({
  owner: "local",
  words: searchWords(typed),
  status: undefined,
  kind: undefined,
  limit: 10,
  skip: 0,
  ...more,
});

const listed = async (
  db: Database,
  filter: { starred?: boolean; tag?: string; archived?: boolean },
): Promise<string[]> => {
  const runs = await listRuns(db, {
    owner: "local",
    status: undefined,
    kind: undefined,
    limit: 10,
    before: undefined,
    ...filter,
  });
  return runs.map(({ taskId }) => taskId);
};

describe("a title", () => {
  test("is found by full text with the question and the report, and no longer once it is removed", async () => {
    const db = await openDatabase();
    await insertReport(db, "one");
    await insertReport(db, "two");
    expect(await organize(db, "one", { title: "Swimming plans" })).toMatchObject({
      title: "Swimming plans",
      query: QUERY,
    });
    expect(await searchReports(db, search("swimming"))).toEqual([
      { taskId: "one", found: [{ text: "Swimming", marked: true }, { text: " plans" }] },
    ]);
    // Words of the title, of the question and of the report at once.
    expect(await searchReports(db, search("plans lake metres"))).toEqual([
      { taskId: "one", found: [{ text: "It is 250 " }, { text: "metres", marked: true }, { text: " deep." }] },
    ]);
    expect((await searchReports(db, search("lake"))).map(({ taskId }) => taskId).toSorted()).toEqual(["one", "two"]);
    expect((await organize(db, "one", { title: "" })).title).toBeUndefined();
    expect(await searchReports(db, search("swimming"))).toEqual([]);
    expect(await searchReports(db, search("lake"))).toHaveLength(2);
  });

  test("that was given before the report is found with it", async () => {
    const db = await openDatabase();
    await insertRun(db, { task_id: "one", query: QUERY, status: "failed" });
    await organize(db, "one", { title: "Swimming plans" });
    expect(await searchQuestions(db, search("swimming lake"))).toEqual([{ taskId: "one", found: [] }]);
    await saveReport(db, "one", "A report that came late.");
    expect(await searchQuestions(db, search("swimming"))).toEqual([]);
    expect(await searchReports(db, search("swimming late"))).toMatchObject([{ taskId: "one" }]);
  });

  test("equal to the question is not stored, and starring keeps a title", async () => {
    const db = await openDatabase();
    await insertReport(db, "one");
    expect((await organize(db, "one", { title: QUERY })).title).toBeUndefined();
    await organize(db, "one", { title: "Swimming plans" });
    expect(await organize(db, "one", { starred: true })).toMatchObject({ title: "Swimming plans", starred: true });
  });
});

test("the list, the counts and the search leave archived runs out unless they are asked for", async () => {
  const db = await openDatabase();
  for (const id of ["one", "two", "three"]) await insertReport(db, id);
  await insertRun(db, { task_id: "foreign", owner: "another", status: "completed" });
  await organize(db, "one", { starred: true });
  await organize(db, "two", { starred: true, archived: true });
  expect(await listed(db, { archived: false })).toEqual(["three", "one"]);
  expect(await listed(db, { archived: true })).toEqual(["two"]);
  expect(await listed(db, {})).toEqual(["two", "three", "one"]);
  expect(await listed(db, { starred: true, archived: false })).toEqual(["one"]);
  const counts = { counts: { completed: 2 }, starred: 1, archived: 1 };
  expect(await countListed(db, "local")).toEqual(counts);
  expect(await countFound(db, search("lake"))).toEqual(counts);
  expect(await searchReports(db, search("lake", { archived: true }))).toMatchObject([{ taskId: "two" }]);
  expect(await searchReports(db, search("lake", { starred: true, archived: false }))).toMatchObject([
    { taskId: "one" },
  ]);
  await organize(db, "two", { archived: false });
  expect(await listed(db, { archived: true })).toEqual([]);
});

test("a run that has not ended cannot be archived, and one that continues is not archived any more", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "running", query: QUERY, status: "running_async" });
  await expect(organize(db, "running", { archived: true })).rejects.toMatchObject({ code: "RESEARCH_NOT_COMPLETED" });
  expect((await organize(db, "running", { starred: true })).starred).toBe(true);
  await insertRun(db, { task_id: "cancelled", query: QUERY, status: "cancelled" });
  await organize(db, "cancelled", { archived: true });
  await transition(db, { taskId: "cancelled", to: "start_unknown", holder: "any", set: {} }).execute();
  expect(await rowOf(db, "cancelled")).toMatchObject({ archived: 0 });
});

test("only the owner can organise a run, and marking a run shows in the change feed", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "foreign", owner: "another", status: "completed" });
  await expect(organize(db, "foreign", { title: "Mine" })).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
  expect((await rowOf(db, "foreign")).title).toBeNull();
  await insertRun(db, { task_id: "ended", status: "completed" });
  await insertRun(db, { task_id: "running", status: "running_async" });
  for (const id of ["ended", "running"]) await organize(db, id, { starred: true });
  expect([(await rowOf(db, "ended")).updated_at, (await rowOf(db, "running")).updated_at]).toEqual([50, 50]);
});

test("tags are found by filter and by word, with a report and without one, and kept when it arrives (Z2)", async () => {
  const db = await openDatabase();
  await insertReport(db, "with");
  await insertRun(db, { task_id: "without", query: QUERY, status: "running_async", next_poll_at: 1 });
  for (const taskId of ["with", "without"]) await organize(db, taskId, { tag: ["norway", "home"] });
  expect((await listed(db, { tag: "norway" })).toSorted()).toEqual(["with", "without"]);
  expect((await listed(db, { tag: "home" })).toSorted()).toEqual(["with", "without"]);
  expect(await listed(db, { tag: "nor" })).toEqual([]);
  const ids = (found: { taskId: string }[]): string[] => found.map(({ taskId }) => taskId);
  expect(ids(await searchReports(db, search("norway", { tag: "home" })))).toEqual(["with"]);
  expect(ids(await searchReports(db, search("lake", { tag: "other" })))).toEqual([]);
  expect(ids(await searchQuestions(db, search("norway", { tag: "home" })))).toEqual(["without"]);
  await saveReport(db, "without", "It is deep.");
  expect(ids(await searchReports(db, search("norway")))).toHaveLength(2);
  await organize(db, "with", { untag: ["norway"] });
  expect(ids(await searchReports(db, search("norway")))).toEqual(["without"]);
  expect(await listTags(db, "local")).toEqual(["home", "norway"]);
  const words = Array.from({ length: 20 }, (_, index) => `word${index}`);
  await expect(organize(db, "with", { tag: words })).rejects.toMatchObject({ code: "INVALID_INPUT" });
});

test("a note is found by word, with a report and without one, until it is removed (Z3)", async () => {
  const db = await openDatabase();
  await insertReport(db, "with");
  await insertRun(db, { task_id: "without", query: QUERY, status: "failed" });
  for (const taskId of ["with", "without"]) await organize(db, taskId, { note: "Ask Anna about\nthe sluice." });
  await organize(db, "with", { starred: true });
  expect(await searchReports(db, search("sluice lake"))).toEqual([
    { taskId: "with", found: [{ text: "Ask Anna about the " }, { text: "sluice", marked: true }, { text: "." }] },
  ]);
  expect(await searchQuestions(db, search("sluice"))).toEqual([{ taskId: "without", found: [] }]);
  expect((await organize(db, "with", { note: "" })).note).toBeUndefined();
  expect(await searchReports(db, search("sluice"))).toEqual([]);
});

test("a report is found by the title, the site and the address of a source, resolved later or not (Z3)", async () => {
  const db = await openDatabase();
  const redirect = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AUZ3";
  await insertRun(db, { task_id: "one", query: QUERY, status: "completed" });
  await saveReport(db, "one", "It is 250 metres deep.", [
    {
      n: 1,
      title: "Bathymetry of Scottish lochs",
      url: "https://maps.example.org/surveys/Loch%20Ness",
      domain: "maps.example.org",
    },
    { n: 2, title: "example.net", url: redirect, domain: "example.net" },
  ]);
  const finds = async (typed: string): Promise<number> => (await searchReports(db, search(typed))).length;
  for (const typed of ["bathymetry", "maps.example.org", "surveys ness", "example.net", "metres lochs"])
    expect([typed, await finds(typed)]).toEqual([typed, 1]);
  expect(await finds("soundings")).toBe(0);
  await saveSourceFacts(db, "one", new Map([[redirect, { resolved_url: "https://example.net/deep/soundings" }]]));
  expect(await finds("soundings")).toBe(1);
});
