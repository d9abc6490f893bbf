/** Tables of finished reports through MCP: the price first, one paid request, cells with sources, and files. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { missingFromText } from "../kit/server/answer-leaves.ts";
import { openResearch, QUERY, SLOW, startRun, untilStatus } from "../kit/server/research.ts";
import type { RunningServer } from "../kit/server/server.ts";
import { openTasks, settled } from "../kit/server/tasks.ts";

const MODEL = "gemini-3.1-pro-preview";
const COLUMNS = ["Maker", "Price"];
const ROWS = "One row per heat pump.";

async function completedRun(server: RunningServer): Promise<string> {
  const taskId = await startRun(server);
  await untilStatus(server, taskId, "completed");
  return taskId;
}

/** An answer of the model with these cells. */
const answerOf = (...rows: [string, number[]][][]): string =>
  JSON.stringify({
    rows: rows.map((cells) =>
      Object.fromEntries(cells.map(([value, sources], index) => [`c${index + 1}`, { value, sources }])),
    ),
  });

test.for(["legacy", "modern"] as const)(
  "a table states its price, is paid for once, and has a source number or a mark in every cell: %s (V5)",
  async (era, context) => {
    const scene = await openResearch(context);
    const server = await scene.server({ era, env: { RESEARCH_SYNC_WINDOW_MS: "0" } });
    const parent = await completedRun(server);
    const read = { task_id: parent, as: "table", columns: COLUMNS };
    // Reading never starts anything.
    const offer = await server.call("get_research_results", read);
    expect(offer.structured).toMatchObject({
      success: true,
      task_id: parent,
      note: expect.stringMatching(/^No table with these columns was made yet\. It would cost about \$0\.\d+ \(up to /),
      estimated_cost: { likely_usd: expect.any(Number) },
      next_step: expect.stringContaining("ask_followup"),
    });
    expect(missingFromText(offer.text, offer.structured)).toEqual([]);
    expect(scene.posts()).toBe(1);
    const cells: [string, number[]][][] = [
      [
        ["Nordic Heat", [1, 2]],
        ["=HYPERLINK(1)", [2, 99]],
      ],
      [
        ["Polar | Air", [98]],
        ["", []],
      ],
    ];
    scene.play({ answer: answerOf(...cells) });
    const making = { task_id: parent, question: ROWS, columns: COLUMNS };
    const task = { task: { preference: "require" as const } };
    const execution = await openTasks(server).session.callTool("ask_followup", making, task);
    expect(execution.kind).toBe("task");
    const { structured: made } = await settled(execution);
    const table = {
      columns: COLUMNS,
      rows: [
        [
          { value: "Nordic Heat", sources: [1, 2] },
          { value: "=HYPERLINK(1)", sources: [2], unknown_sources: [99] },
        ],
        [
          { value: "Polar | Air", sources: [], mark: "no source", unknown_sources: [98] },
          { sources: [], mark: "not found" },
        ],
      ],
    };
    expect(made).toMatchObject({
      success: true,
      parent_task_id: parent,
      context: "stored_report",
      results: {
        table,
        note: "1 cell not found in the report, 1 cell without a source, 2 cells with a source number that does not exist.",
        sources: [{ n: 1 }, { n: 2 }],
        metadata: { model: MODEL, usage_final: true },
      },
      cost_usd: expect.any(Number),
    });
    expect(made["results"]).not.toHaveProperty("report");
    // The model got the report with its numbers and the schema, and nothing to search with.
    const entry = scene.gemini.ledger.entries().find(({ question }) => question?.includes("c2: Price") === true);
    expect(entry).toMatchObject({ model: MODEL, tools: [], served: "accepted" });
    expect(entry?.question).toContain("[cite: 1");
    expect(scene.gemini.ledger.acceptedStarts().at(-1)).toMatchObject({ model: MODEL, structured: true });
    // Made once: read, read again as the newest, and asked for again, in a day and in other letters.
    scene.sql("update research_tasks set created_at = created_at - 86400000.0 where task_id = ?", made["task_id"]);
    for (const input of [read, { task_id: parent, as: "table" }, { task_id: made["task_id"] }]) {
      const { structured, text } = await server.call("get_research_results", input);
      expect(structured).toMatchObject({ success: true, task_id: made["task_id"], table });
      expect(text).toContain("| Nordic Heat [1] [2] |");
    }
    const again = await server.call("ask_followup", { ...making, columns: ["maker ", "PRICE"] });
    expect(again.structured).toMatchObject({ task_id: made["task_id"], joined: true, results: { table } });
    expect(missingFromText(again.text.replaceAll("\\", ""), again.structured)).toEqual([]);
    expect([scene.posts(), scene.accepted()]).toEqual([2, 2]);
    // In lists it is named after its report: its question only says what a row is.
    const { structured: listed } = await server.call("list_research", {});
    expect(listed["runs"].find((run: { task_id: string }) => run.task_id === made["task_id"])).toMatchObject({
      query: ROWS,
      title: `Table of “${QUERY}”: Maker, Price`,
    });
    // Files: safe in a spreadsheet, and complete as data.
    const save = async (format?: string) =>
      (await server.call("save_research_to_markdown", { task_id: parent, output_dir: scene.configDir, format }))
        .structured;
    const { file_path: csv } = await save("csv");
    expect(csv).toMatch(/\.csv$/);
    const lines = readFileSync(csv, "utf8").split("\r\n");
    expect(lines[0]).toBe("\uFEFFMaker,Maker (sources),Price,Price (sources)");
    expect(lines[1]).toMatch(
      /^Nordic Heat,"\[1\] https:\S+; \[2\] https:\S+","'=HYPERLINK\(1\)","\[2\] \S+; no such source: 99"$/,
    );
    expect(lines[2]).toBe('Polar | Air,"no source; no such source: 98",,not found');
    const { file_path: json } = await save("json");
    expect(JSON.parse(readFileSync(json, "utf8"))).toMatchObject({ columns: COLUMNS, sources: [{ n: 1 }, { n: 2 }] });
    expect((await save())["filename"]).toMatch(/\.md$/);
  },
);

test("a table that was cut keeps its complete rows, and one that cannot be read is kept as the text that was paid for (V5)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const parent = await completedRun(server);
  const row = [
    ["Nordic Heat", [1]],
    ["1,200", [2]],
  ] satisfies [string, number[]][];
  const ask = async (question: string, answer: string | undefined) => {
    scene.play(answer === undefined ? {} : { answer });
    return (await server.call("ask_followup", { task_id: parent, question, columns: COLUMNS })).structured;
  };
  expect(await ask("Cut.", answerOf(row, row).slice(0, -20))).toMatchObject({
    results: {
      note: expect.stringMatching(/^Google's answer ends early/),
      table: {
        rows: [
          [
            { value: "Nordic Heat", sources: [1] },
            { value: "1,200", sources: [2] },
          ],
        ],
      },
    },
  });
  const prose = "I cannot make a table of this, but the pump of Nordic Heat costs 1,200.";
  const unreadable = await ask("Prose.", prose);
  expect(unreadable).toMatchObject({
    success: true,
    results: { report: prose, note: expect.stringContaining("could not be read as a table") },
  });
  expect(unreadable["results"]).not.toHaveProperty("table");
  const csv = { task_id: unreadable["task_id"], output_dir: scene.configDir, format: "csv" };
  expect((await server.call("save_research_to_markdown", csv)).structured).toMatchObject({
    error: { code: "INVALID_INPUT", message: expect.stringContaining("has no table") },
  });
  // It does not hide an earlier table, and may be made again.
  const read = await server.call("get_research_results", { task_id: parent, as: "table", columns: COLUMNS });
  expect(read.structured).toHaveProperty("table");
  const once = await ask("Prose.", answerOf(row));
  expect(once).toMatchObject({ results: { table: { columns: COLUMNS } } });
  expect(once).not.toHaveProperty("joined");
  expect(await ask("Prose.", undefined)).toMatchObject({ task_id: once["task_id"], joined: true });
  // The simulator answers a schema by itself, too.
  const { results } = await ask("Any.", undefined);
  expect(results.table).toMatchObject({ columns: COLUMNS, rows: expect.arrayContaining([expect.any(Array)]) });
  // Where every start must be confirmed, a table must be, too; one that was made is free.
  const strict = await scene.server({ env: { RESEARCH_CONFIRM_ABOVE_USD: "0" } });
  const asked = (question: string) =>
    strict.call("ask_followup", { task_id: parent, question, columns: COLUMNS }).then(({ structured }) => structured);
  expect(await asked("Other rows.")).toMatchObject({
    error: { code: "CONFIRMATION_NEEDED", message: expect.stringMatching(/^This table will cost about \$0\.\d+ /) },
  });
  expect(await asked("Any.")).toMatchObject({ joined: true });
  expect([scene.posts(), scene.accepted()]).toEqual([5, 5]);
  // Other columns are another table, even within the minutes in which identical starts are joined.
  const other = { task_id: parent, question: "Any.", columns: ["Maker"] };
  const { structured } = await server.call("ask_followup", other);
  expect(structured).toMatchObject({ parent_task_id: parent, results: { table: { columns: ["Maker"] } } });
  expect(structured).not.toHaveProperty("joined");
  expect([scene.posts(), scene.accepted()]).toEqual([6, 6]);
});

test("columns that make no table, and a run without a report, are refused before anything is sent (V5)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const server = await scene.server();
  const running = await startRun(server);
  const many = Array.from({ length: 200 }, (_, index) => `Column ${index}`);
  const refusals = [
    [many, "INVALID_INPUT", "A table has at most 20 columns."],
    [[], "INVALID_INPUT", "columns must not be empty."],
    [["Maker", " "], "INVALID_INPUT", "The name of a column must not be empty."],
    [["Maker", "maker "], "INVALID_INPUT", "Each column must be named once."],
    [["Maker", "x".repeat(61)], "INVALID_INPUT", "The name of a column must have at most 60 characters."],
    [["Maker\nPrice"], "INVALID_INPUT", "The name of a column must be one line of text."],
    [["***"], "INVALID_INPUT", "The name of a column must have at least one letter or digit."],
    [COLUMNS, "RESEARCH_NOT_COMPLETED", "This run is still in progress."],
  ] as const;
  for (const [columns, code, message] of refusals) {
    const asked = await server.call("ask_followup", { task_id: running, question: ROWS, columns });
    expect(asked.structured["error"]).toMatchObject({ code, message });
    const read = await server.call("get_research_results", { task_id: running, as: "table", columns });
    expect(read.structured["error"]).toMatchObject({ code, message });
  }
  expect(scene.posts()).toBe(1);
  expect(scene.sql("select query from research_tasks")).toEqual([{ query: QUERY }]);
});
