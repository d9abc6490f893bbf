import { expect, test, type TestContext } from "vitest";
import { openRunner } from "../../../test/kit/store/runner.ts";
import type { RunResult } from "../../runs/run.ts";
import { finishRun, insertRunning } from "../../runs/run-store.ts";
import type { Database } from "../../store/database.ts";
import type { OperationDeps } from "../operation.ts";
import { htmlFile } from "./report-file.ts";
import { reportPage } from "./report-html.ts";

const TASK_ID = "11111111-2222-4333-8444-555555555555";
const WANTED = { owner: "local", task_id: TASK_ID };

const RESULT: RunResult = {
  report: "# Deep\u200B\n\nThe lake is \u001B[31mdeep\u001B[0m. Very.",
  sources: [{ n: 1, title: "Lakes", url: "https://lakes.example/", domain: "lakes.example" }],
  citations: [{ n: 1, start: 0, end: "# Deep\n\nThe lake is deep.".length }],
  metadata: { verified: true, note: "Said\u202E so." },
  partial: false,
};

async function openWorld(
  context: TestContext,
  end: { to: "completed" | "failed" | "cancelled"; result: RunResult | undefined } | undefined,
): Promise<Database> {
  const { store } = await openRunner(context);
  const run = { taskId: TASK_ID, owner: "local", kind: "search" as const, query: "How deep is the lake?", options: {} };
  await insertRunning(store.db, { ...run, client: undefined, processId: store.processId, now: 1 });
  if (end === undefined) return store.db;
  await finishRun(store.db, {
    taskId: TASK_ID,
    processId: store.processId,
    ...end,
    error: undefined,
    backend: "api",
    model: "m",
    tokens: { input: 1, output: 1 },
    cost: { usd: 0, incomplete: false, estimated: false },
    usageFinal: true,
    now: 2,
  });
  return store.db;
}

test("a stored report is rendered for the page, cleaned, with its citations in place", async (t) => {
  const db = await openWorld(t, { to: "completed", result: RESULT });
  const view = await reportPage(db, WANTED);
  expect(view).toEqual({
    task_id: TASK_ID,
    title: "Deep",
    parts: [
      '<p>The lake is deep.<sup class="cite"><a id="cite-1-1" href="#source-1" aria-label="Source 1: Lakes">[1]</a></sup> Very.</p>\n',
    ],
    contents: [],
    sources: [{ n: 1, title: "Lakes", domain: "lakes.example", url: "https://lakes.example/", cited_at: ["cite-1-1"] }],
    partial: false,
    verified: true,
    note: "Said so.",
  });
});

test("a partial report is marked as such, on the page and in the file", async (t) => {
  const db = await openWorld(t, { to: "cancelled", result: { ...RESULT, metadata: {}, partial: true } });
  const view = await reportPage(db, WANTED);
  expect(view.partial).toBe(true);
  expect(view).not.toHaveProperty("verified");
  const { text, run } = await htmlFile(depsWith(db), WANTED);
  expect(run.taskId).toBe(TASK_ID);
  expect(text).toContain("PARTIAL");
  expect(text).toContain(TASK_ID);
});

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that a file asks for
const depsWith = (db: Database) => ({ database: async () => db, clock: { now: () => 3 } }) as unknown as OperationDeps;

const WITHOUT_TEXT = [
  { name: "is not finished", end: undefined, code: "RESEARCH_NOT_COMPLETED" },
  { name: "failed without a text", end: { to: "failed", result: undefined }, code: "RESEARCH_FAILED" },
  { name: "was cancelled without one", end: { to: "cancelled", result: undefined }, code: "RESEARCH_NOT_COMPLETED" },
] as const;

for (const { name, end, code } of WITHOUT_TEXT) {
  test(`a run that ${name} has no report to show`, async (t) => {
    const db = await openWorld(t, end);
    await expect(reportPage(db, WANTED)).rejects.toMatchObject({ code });
    await expect(htmlFile(depsWith(db), WANTED)).rejects.toMatchObject({ code });
  });
}

test("a report of another owner does not exist (T14)", async (t) => {
  const db = await openWorld(t, { to: "completed", result: RESULT });
  await expect(reportPage(db, { ...WANTED, owner: "somebody" })).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
});
