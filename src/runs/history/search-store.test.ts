import { describe, expect, test } from "vitest";
import { insertRun, openDatabase } from "../../../test/kit/store/store-rows.ts";
import type { Database } from "../../store/database.ts";
import { saveResult } from "../result-store.ts";
import { countFound, type RunSearch, searchQuestions, searchReports, searchWords } from "./search-store.ts";

const search = (typed: string, more: Partial<RunSearch> = {}): RunSearch => ({
  owner: "local",
  words: searchWords(typed),
  status: undefined,
  kind: undefined,
  limit: 10,
  skip: 0,
  ...more,
});

async function insertReport(db: Database, task_id: string, report: string, query = "What?"): Promise<void> {
  await insertRun(db, { task_id, query, status: "completed" });
  const result = { report, sources: [], metadata: {}, partial: false };
  await db.transaction().execute((transaction) => saveResult(transaction, { taskId: task_id, query, result, now: 1 }));
}

describe("a search in reports", () => {
  test("returns the best match first, with the excerpt that holds the words (Q2)", async () => {
    const db = await openDatabase();
    await insertReport(db, "in-report", `${"filler ".repeat(500)}The lake is deep.`);
    await insertReport(db, "in-question", "It is deep.", "How deep is the lake?");
    await insertReport(db, "neither", "A river.");
    expect(await searchReports(db, search("lake"))).toEqual([
      { taskId: "in-question", found: [{ text: "How deep is the " }, { text: "lake", marked: true }, { text: "?" }] },
      {
        taskId: "in-report",
        found: [
          { text: "…" },
          { text: `${"filler ".repeat(5)}The ` },
          { text: "lake", marked: true },
          { text: " is deep." },
        ],
      },
    ]);
    expect(await searchReports(db, search("lake", { skip: 1 }))).toMatchObject([{ taskId: "in-report" }]);
  });

  test(
    "finds and excerpts reports that repeat one word a hundred thousand times (Q2)",
    { timeout: 120_000 },
    async () => {
      const db = await openDatabase();
      for (let index = 0; index < 8; index += 1) await insertReport(db, `t-${index}`, "lake ".repeat(100_000));
      const found = await searchReports(db, search("lake"));
      expect(found.map(({ taskId }) => taskId).toSorted()).toEqual(Array.from({ length: 8 }, (_unused, n) => `t-${n}`));
      for (const { found: pieces } of found) expect(pieces.filter(({ marked }) => marked)).toHaveLength(24);
    },
  );
});

test("matches are counted by state, in reports and in the questions of runs without a report (Q2)", async () => {
  const db = await openDatabase();
  await insertReport(db, "report", "The lake is deep.");
  await insertReport(db, "other", "A river.");
  await insertRun(db, { task_id: "failed", query: "How deep is the lake?", status: "failed" });
  await insertRun(db, {
    task_id: "of another owner",
    query: "How deep is the lake?",
    status: "failed",
    owner: "another",
  });
  await insertRun(db, { task_id: "search", query: "Lake Constance", status: "running", kind: "search" });
  const words = searchWords("lake");
  const ofAll = (counts: object) => ({ counts, starred: 0, archived: 0 });
  expect(await countFound(db, { owner: "local", words, kind: undefined })).toEqual(
    ofAll({ completed: 1, failed: 1, running: 1 }),
  );
  expect(await countFound(db, { owner: "local", words, kind: "search" })).toEqual(ofAll({ running: 1 }));
  expect(await countFound(db, { owner: "local", words: [], kind: undefined })).toEqual(ofAll({}));
});

describe("a search in questions of runs without a report", () => {
  test("returns the newest first, page by page, matching the beginning of words (Q2)", async () => {
    const db = await openDatabase();
    for (let index = 0; index < 6; index += 1) {
      const query = index === 4 ? `${"x".repeat(2_000)} lake` : `Which lake is number ${index}?`;
      await insertRun(db, {
        task_id: `t-${index}`,
        query,
        created_at: index,
        status: index % 2 ? "failed" : "cancelled",
      });
    }
    const ids = async (more: Partial<RunSearch>): Promise<string[]> =>
      (await searchQuestions(db, search("LAKE", more))).map(({ taskId }) => taskId);
    expect(await ids({ limit: 2 })).toEqual(["t-5", "t-3"]);
    expect(await ids({ limit: 2, skip: 2 })).toEqual(["t-2", "t-1"]);
    expect(await ids({ status: "cancelled" })).toEqual(["t-2", "t-0"]);
  });
});
