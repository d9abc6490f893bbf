/** Reports that Google calls completed although they are none, or have a defect that their reader must know. */

import { expect, test } from "vitest";
import { AppError } from "../../errors.ts";
import type { Interaction } from "../../gemini/research-agent.ts";
import { FINISHED, openRunner, request } from "../../../test/kit/store/runner.ts";
import { polledRun, polledRuns } from "../../../test/kit/store/polled.ts";
import { findResult } from "../result-store.ts";
import { currentOf } from "../conversation-store.ts";
import { startResearch } from "../start/start.ts";
import { withTable } from "../table/table-result.ts";
import { gateReport } from "./endings.ts";
import { pollRun } from "./poll.ts";

type Context = Parameters<typeof openRunner>[0];

/** A run whose only poll returns this report. */
async function completedWith(context: Context, interaction: Partial<Interaction>, query = request.query) {
  const stage = await openRunner(context);
  const { db } = stage.store;
  const { taskId, ...started } = await startResearch(stage.deps(), { ...request, query, forceNew: true });
  if (started.kind === "started") await started.sending;
  await db.updateTable("research_tasks").set({ next_poll_at: 0 }).execute();
  const found = { kind: "found" as const, interaction: { ...FINISHED, ...interaction } };
  for (const run of await polledRuns(db)) {
    await pollRun(stage.deps({ poll: async () => found }), run);
  }
  return { run: await currentOf(db, request.owner, taskId), result: await findResult(db, taskId) };
}

test("a placeholder or an echo of the question fails the run, and its text is kept (W5)", async (context) => {
  const query = "What is known about the depth of the lakes of Kestria?";
  for (const report of ["[Insert the report here]", query]) {
    const { run, result } = await completedWith(context, { report, citations: [] }, query);
    expect(run).toMatchObject({ status: "failed", error: { code: "RESEARCH_FAILED" } });
    expect(run.error?.message).toMatch(/sent no report\. What it sent is kept/);
    expect(result).toMatchObject({ report, partial: true });
  }
});

test("a report twice or without any source is completed with a warning (W5)", async (context) => {
  const once = `# Lakes\n\n${Array.from({ length: 12 }, (_, n) => `Lake ${n} is ${n * 7} metres deep, as its survey says.`).join(" ")}`;
  const ungrounded = { sources: [], citations: [], searches: [] };
  const { run, result } = await completedWith(context, { report: `${once}\n\n${once}`, ...ungrounded });
  expect(run.status).toBe("completed");
  expect(run.hasWarning).toBe(true);
  expect(result).toMatchObject({ report: `${once}\n\n${once}`, partial: false });
  expect(result?.metadata["note"]).toMatch(/twice.*No web page was found or opened/);
  const good = await completedWith(context, { report: once, searches: ["lakes"] });
  expect(good.run.hasWarning).toBe(false);
  expect(good.result?.metadata).not.toHaveProperty("note");
});

test("an answer in JSON is completed (W5)", async (context) => {
  const report = '{"name":"Lake of Kestria","depth":214}';
  const { run, result } = await completedWith(context, { report, citations: [] });
  expect([run.status, result?.report, result?.partial]).toEqual(["completed", report, false]);
});

test("paid text is stored even if a bug makes reading its sources fail (W5, I8)", async (context) => {
  const report = `# Lakes\n\n${"The lake of Kestria is 214 metres deep. ".repeat(9)}`;
  // No such bug is known, so one is simulated: an address whose type breaks every reader of addresses.
  const sources = [{ title: "", url: Object.create(null) }];
  for (const status of ["working", "completed"] as const) {
    const { run, result } = await completedWith(context, { status, report, sources });
    expect(run.status).toBe(status === "completed" ? "completed" : "running_async");
    expect(result).toMatchObject({ report, sources: [], partial: status === "working" });
    expect(result?.metadata["note"]).toMatch(
      /could not be read \(unexpected error \w{8}; see the log\)\. The text is kept/,
    );
  }
});

test("an error of the database leaves the end to the next poll; a bug does not (W5, V5)", async (context) => {
  const stage = await openRunner(context);
  const { db } = stage.store;
  const deps = stage.deps();
  const started = await startResearch(deps, { ...request, variant: { columns: ["Lake"] } });
  if (started.kind === "started") await started.sending;
  await db.updateTable("research_tasks").set({ next_poll_at: 0 }).execute();
  const run = await polledRun(db);
  const report = JSON.stringify({ rows: [{ c1: { value: "Kestria", sources: [] } }] });
  const answer = { report, sources: [], metadata: {}, partial: false };
  const failing = db.withPlugin({
    transformQuery: () => {
      throw new AppError({ code: "SQLITE_ERROR", message: "A database request failed." });
    },
    transformResult: async ({ result }) => result,
  });
  const followup = { ...run, parentTaskId: run.taskId };
  await expect(withTable({ ...deps, db: failing }, followup, answer)).rejects.toThrow("A database request failed.");
  expect((await withTable(deps, run, answer)).metadata).toHaveProperty("table.columns", ["Lake"]);
  // A bug in reading an answer is simulated by one that is no text.
  const noText = Object.create(null);
  const unread = await withTable(deps, run, { ...answer, report: noText });
  expect(unread.metadata).toEqual({ note: expect.stringContaining("could not be read as a table") });
  // Options of another version, which this one cannot read.
  const unreadable = { ...run, options: { variant: { columns: 7 } } };
  expect(gateReport(deps, { ...run, options: { variant: { material: 7 } } }, { ...FINISHED, report })).toEqual({
    to: "completed",
    warnings: [expect.stringContaining("could not be checked")],
  });
  expect((await withTable(deps, unreadable, answer)).report).toBe(answer.report);
});
