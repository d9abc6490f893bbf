/** Deleting runs by tool, command and dashboard, at Google too, and by retention. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openPageServer } from "../kit/browser/page-api.ts";
import { openResearch, QUERY, type ResearchScene, SLOW, startRun, untilStatus } from "../kit/server/research.ts";
import type { RunningServer } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const KEPT_FILES = "Saved files are kept.";

const remove = (server: RunningServer, task_id: string, more: object = {}) =>
  server.call("cancel_research", { task_id, delete: true, ...more });

/** The number of tables with rows of a run, among all tables with a task_id. */
function tablesWith(scene: ResearchScene, taskId: string): string[] {
  const tables = scene
    .sql<{ name: string }>(
      "select m.name as name from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table' and c.name = 'task_id'",
    )
    .map(({ name }) => name)
    .filter((name) => !name.startsWith("research_search_"));
  return tables.filter((name) => scene.sql(`select 1 from ${name} where task_id = ? limit 1`, taskId).length > 0);
}

async function finished(scene: ResearchScene, server: RunningServer): Promise<string> {
  const task_id = await startRun(server);
  await untilStatus(server, task_id, "completed");
  expect(tablesWith(scene, task_id)).toEqual(
    expect.arrayContaining(["research_tasks", "research_results", "research_attempts", "research_search"]),
  );
  return task_id;
}

test("a deleted run leaves only saved files behind, and its question is no longer joined (T-2)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const task_id = await finished(scene, server);
  const saved = await server.call("save_research_to_markdown", { task_id, output_dir: join(scene.configDir, "out") });
  const { isError, structured } = await remove(server, task_id);
  expect(isError).toBe(false);
  expect(structured).toEqual({
    success: true,
    task_id,
    status: "deleted",
    message: `The run is deleted. ${KEPT_FILES}`,
  });
  expect(tablesWith(scene, task_id)).toEqual([]);
  expect(existsSync(saved.structured["file_path"])).toBe(true);
  expect((await server.call("list_research", { text: "heat" })).structured["runs"]).toEqual([]);
  for (const again of [await remove(server, task_id), await server.call("get_research_results", { task_id })]) {
    expect(again.structured["error"]).toMatchObject({ code: "TASK_NOT_FOUND" });
  }
  expect(scene.gemini.ledger.entries().filter(({ method }) => method === "DELETE")).toEqual([]);
  const before = scene.accepted();
  const next = await server.call("start_deep_research", { query: QUERY });
  expect(next.structured["task_id"]).not.toBe(task_id);
  expect(next.structured).not.toHaveProperty("joined");
  expect(scene.accepted()).toBe(before + 1);
});

test("Google's copy is deleted first; if Google refuses, nothing is deleted (T-2)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const refused = await finished(scene, server);
  scene.play({ delete: [{ fault: "http-500" }] });
  const answer = await remove(server, refused, { delete_at_google: true });
  expect(answer.structured["error"]).toMatchObject({
    code: "GEMINI_UNAVAILABLE",
    message: expect.stringMatching(/^Google did not delete its copy, so the run was not deleted here either\. /),
  });
  expect(tablesWith(scene, refused)).toContain("research_results");
  scene.play({});
  const gone = await remove(server, refused, { delete_at_google: true });
  expect(gone.structured).toMatchObject({ status: "deleted", deleted_at_google: true });
  expect(tablesWith(scene, refused)).toEqual([]);
  const alone = await server.call("cancel_research", { task_id: refused, delete_at_google: true });
  expect(alone.structured["error"]).toMatchObject({ code: "INVALID_INPUT" });
});

test("a run under way is cancelled and then deleted (T-2, L1)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const server = await scene.server();
  const task_id = await startRun(server);
  expect((await remove(server, task_id)).structured).toMatchObject({ status: "deleted" });
  expect(tablesWith(scene, task_id)).toEqual([]);
  const [start] = scene.gemini.ledger.acceptedStarts();
  expect(scene.gemini.ledger.trafficOf(start?.id ?? "").cancels.length).toBeGreaterThan(0);
});

test("a start that Google may charge is not deleted while its id can still be found (I8, T-2)", async (context) => {
  const scene = await openResearch(context, { create: [{ fault: "accept-then-reset" }] });
  const server = await scene.server();
  const { structured } = await server.call("start_deep_research", { query: QUERY });
  const { task_id } = structured as { task_id: string };
  for (const _ of [1, 2]) {
    const { isError, structured: refused } = await remove(server, task_id);
    expect(isError).toBe(true);
    expect(refused).toMatchObject({ status: "cancelled", error: { code: "START_UNKNOWN" } });
  }
  expect(tablesWith(scene, task_id)).toContain("research_attempts");
  scene.sql("update research_attempts set created_at = 1 where task_id = ?", task_id);
  expect((await remove(server, task_id)).structured).toMatchObject({ status: "deleted" });
});

test("a run whose cancel Google has not confirmed is not deleted, however often that is requested (L1, T-2)", async (context) => {
  const scene = await openResearch(context, { ...SLOW, cancel: [{ fault: "http-500" }] });
  const server = await scene.server();
  const task_id = await startRun(server);
  for (const more of [{}, { delete_at_google: true }]) {
    const { isError, structured } = await remove(server, task_id, more);
    expect(isError).toBe(true);
    expect(structured).toMatchObject({ status: "cancelled", error: { code: "RESEARCH_NOT_COMPLETED" } });
    expect(structured["error"].suggestion).toMatch(/delete it again/i);
  }
  expect(tablesWith(scene, task_id)).toContain("research_attempts");
  expect(scene.gemini.ledger.entries().filter(({ method }) => method === "DELETE")).toEqual([]);
});

test("the page deletes runs of its own owner only (T-2, T-5)", async (context) => {
  const scene = await openPageServer(context);
  const ann = await scene.tokenOf("ann");
  const ben = await scene.tokenOf("ben");
  const server = await scene.serve();
  const { body } = await server.post("/api/research", { query: QUERY, agreed: true }, ann);
  await waitFor(async () => {
    const run = await server.get(`/api/runs/${body.task_id}`, ann);
    expect(run.body).toMatchObject({ status: "completed", actions: ["delete"] });
  });
  const ofOtherOwner = await server.post(`/api/runs/${body.task_id}/delete`, {}, ben);
  expect(ofOtherOwner).toMatchObject({ status: 404, body: { error: { code: "TASK_NOT_FOUND" } } });
  const own = await server.post(`/api/runs/${body.task_id}/delete`, { delete_at_google: true }, ann);
  expect(own).toMatchObject({ status: 200, body: { status: "deleted" } });
  expect((await server.get(`/api/runs/${body.task_id}`, ann)).status).toBe(404);
});

test("the delete command asks first, or accepts --yes (T-2)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const task_id = await finished(scene, server);
  const unasked = await scene.command(["delete", task_id, "--json"]);
  expect(unasked.code).not.toBe(0);
  expect(JSON.parse(unasked.stdout)).toMatchObject({ success: false, error: { code: "CONFIRMATION_NEEDED" } });
  expect(tablesWith(scene, task_id)).not.toEqual([]);
  const done = await scene.command(["delete", task_id.slice(0, 8), "--yes", "--at-google"]);
  expect(done).toMatchObject({ code: 0 });
  expect(done.stdout).toContain(`The run is deleted, here and at Google. ${KEPT_FILES}`);
  expect(tablesWith(scene, task_id)).toEqual([]);
});

test("runs older than RESEARCH_KEEP_DAYS are deleted, in batches, and 0 keeps them (T-2)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server({ env: { RESEARCH_KEEP_DAYS: "never" } });
  const kept = await finished(scene, server);
  await server.close();
  scene.sql(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < 60)
     insert into research_tasks (task_id, kind, query, status, created_at, updated_at, completed_at)
     select 'old-' || i, 'search', 'old', 'completed', 1, 1, 1 from n`,
  );
  scene.sql(
    "insert into research_events (task_id, seq, at, kind, data_json) select 'old-1', i, 1, 'thought', '{}' from (with recursive n(i) as (select 1 union all select i + 1 from n where i < 1200) select i from n)",
  );
  const count = (): number => scene.sql("select 1 from research_tasks").length;
  const keeper = await scene.server({ env: { RESEARCH_KEEP_DAYS: "0" } });
  await keeper.call("list_research", {});
  await keeper.close();
  expect(count()).toBe(61);
  const sweeper = await scene.server();
  await sweeper.call("list_research", {});
  await waitFor(() => expect(count()).toBe(1));
  expect(tablesWith(scene, "old-1")).toEqual([]);
  expect(tablesWith(scene, kept)).toContain("research_results");
});
