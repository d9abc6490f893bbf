import { sql } from "kysely";
import { expect, test } from "vitest";
import { insertRun, openDatabase } from "../../test/kit/store/store-rows.ts";
import { saveResult } from "../runs/result-store.ts";
import type { Database } from "./database.ts";
import { fullText, type SoughtText } from "./full-text.ts";

async function stored(reports: Record<string, { query: string; report: string }>): Promise<Database> {
  const db = await openDatabase();
  for (const [taskId, { query, report }] of Object.entries(reports)) {
    await insertRun(db, { task_id: taskId, query });
    const result = { report, sources: [], metadata: {}, partial: false };
    await db.transaction().execute((transaction) => saveResult(transaction, { taskId, query, result, now: 1 }));
  }
  return db;
}

async function found(db: Database, ...sought: SoughtText[]): Promise<{ task_id: string }[]> {
  const { join, matches, rank } = fullText(db, sought);
  const { rows } = await sql<{ task_id: string }>`
    select found.task_id
    from research_search as found ${join} research_tasks as task on task.task_id = found.task_id
    where ${matches} and task.owner = 'local' order by ${rank}`.execute(db);
  return rows;
}

const word = (text: string): SoughtText => ({ text, begins: false });
const beginning = (text: string): SoughtText => ({ text, begins: true });

test("words, phrases and prefixes are found, in questions before reports, without accents or capitals (Q2)", async () => {
  const db = await stored({
    asked: { query: "Heat pumps in Zürich", report: "Nothing about them." },
    inReport: {
      query: "Heating",
      report: `${"Much else. ".repeat(200)}A heat pump, and heat pumps again, near Zurich.`,
    },
    other: { query: "Lakes", report: "Pumps move water; the heat is another matter." },
  });
  const ids = async (...sought: SoughtText[]) => (await found(db, ...sought)).map(({ task_id }) => task_id);
  expect(await ids(word("heat pumps"))).toEqual(["asked", "inReport"]);
  expect(await ids(word("heat"), word("pumps"))).toHaveLength(3);
  expect(await ids(beginning("zur"))).toEqual(["asked", "inReport"]);
  expect(await ids(word("ZURICH"))).toEqual(["asked", "inReport"]);
  expect(await ids(word("zur"))).toEqual([]);
});

test.each(["データ", "ガス", "हिन्दी", "भाषा", "Ελλάδα", "й"])(
  "a word of any script is found, and its prefix: %s (Q2)",
  async (text) => {
    const db = await stored({ one: { query: "A question", report: `before ${text} after` } });
    expect(await found(db, word(text))).toEqual([{ task_id: "one" }]);
    expect(await found(db, beginning(text))).toEqual([{ task_id: "one" }]);
  },
);

test.each(['"', "'", "\\", "a' | 'b", ":*", "!", "()", "heat:A", "NEAR(a b)", "-", "*", "'':*", "%", "a\\' b", "😀"])(
  "search terms are data, never syntax: %s (T25)",
  async (text) => {
    const db = await stored({ one: { query: "A question", report: "An answer." } });
    // Together with a word: FTS5 rejects a query of only a phrase without letters.
    await expect(found(db, word("answer"), beginning(`${text}zzz`))).resolves.toEqual([]);
    await expect(found(db, word(`zzz${text}`))).resolves.toEqual([]);
  },
);

test("no report is refused because of its index: very long, many words, very long words (P5)", async () => {
  const many = Array.from({ length: 120_000 }, (_, n) => n.toString(36).padStart(6, "q")).join(" ");
  const foreign = Array.from({ length: 60_000 }, (_, n) => String.fromCodePoint(0x2_0000 + (n % 40_000))).join(" ");
  const db = await stored({
    many: { query: "Q", report: many },
    foreign: { query: "Q", report: foreign },
    long: { query: "Q", report: "x".repeat(1_000_000) },
    both: { query: many, report: many },
  });
  expect(await db.selectFrom("research_results").select("task_id").execute()).toHaveLength(4);
});
