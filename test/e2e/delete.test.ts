/** Deleting runs by tool, command and dashboard, at Google too, and by retention. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ElicitResult } from "@modelcontextprotocol/client";
import { describe, expect, test, type TestContext } from "vitest";
import { openPageServer } from "../kit/browser/page-api.ts";
import { openResearch, QUERY, type ResearchScene, SLOW, startRun, untilStatus } from "../kit/server/research.ts";
import { type AskingClient, askingClient } from "../kit/server/asking-client.ts";
import type { Era, RunningServer } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const KEPT_FILES = "Saved files are kept.";

const YES: ElicitResult = { action: "accept", content: {} };
const ERAS: Era[] = ["legacy", "modern"];
const CANCEL = { tool: "cancel_research" };

/** A client whose user agrees to every deletion. */
const agreeing = (context: TestContext, scene: ResearchScene, env: Record<string, string> = {}) =>
  askingClient(context, scene, { era: "modern", answer: YES, env });

const remove = (client: AskingClient, task_id: string, more: object = {}) =>
  client.call({ task_id, delete: true, ...more }, CANCEL);

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

describe.each(ERAS)("a %s client", (era) => {
  test("is asked before a report is deleted, and only a yes to this deletion deletes it (T-2, T28)", async (context) => {
    const scene = await openResearch(context);
    const task_id = await finished(scene, await scene.server());
    const declining = await askingClient(context, scene, { era, answer: { action: "decline" } });
    expect((await remove(declining, task_id)).structured["error"]).toMatchObject({
      code: "DECLINED",
      message: "The user declined. Nothing was started, charged or deleted.",
    });
    const agreed = await askingClient(context, scene, { era, answer: YES });
    // Stopping needs no question, and deletes nothing.
    await agreed.call({ task_id }, CANCEL);
    expect(agreed.dialogs).toEqual([]);
    expect(tablesWith(scene, task_id)).toContain("research_results");
    expect((await remove(agreed, task_id, { delete_at_google: true })).structured).toMatchObject({ status: "deleted" });
    const when = `${new Date().getUTCFullYear()}-\\d\\d-\\d\\d, \\$\\d+(\\.\\d\\d)?`;
    expect(agreed.dialogs.map(({ message }) => message)).toEqual([
      expect.stringMatching(`^Delete run ${task_id.slice(0, 8)} \\(${when}\\) permanently, here and at Google\\?$`),
    ]);
    expect(tablesWith(scene, task_id)).toEqual([]);
  });

  test("whose user agrees to stop and delete a run keeps the report that arrives while the dialog is open (T-2, L1)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server();
    const task_id = await startRun(server);
    const answer = async (): Promise<ElicitResult> => {
      scene.gemini.skip(20 * 60_000);
      scene.sql("update research_tasks set next_poll_at = 0");
      await untilStatus(server, task_id, "completed");
      return YES;
    };
    const asked = await askingClient(context, scene, { era, answer });
    expect((await remove(asked, task_id)).structured["error"]).toMatchObject({
      code: "CONFIRMATION_NEEDED",
      message: expect.stringMatching(/^This is not what the user agreed to\. .* Nothing was deleted\.$/),
    });
    expect(asked.dialogs).toMatchObject([{ message: expect.stringMatching(/^Cancel and delete run /) }]);
    expect(tablesWith(scene, task_id)).toContain("research_results");
  });

  test("that cannot ask deletes nothing and is told how the user can (T-2, T28)", async (context) => {
    const scene = await openResearch(context);
    const server = await scene.server({ era });
    const task_id = await finished(scene, server);
    const { isError, structured } = await server.call("cancel_research", { task_id, delete: true });
    expect(isError).toBe(true);
    expect(structured["error"]).toEqual({
      code: "CONFIRMATION_NEEDED",
      message:
        "A deleted run and its report cannot be recovered. This needs the user's approval, which this client cannot ask for. Nothing was deleted.",
      suggestion: `Ask the user. To approve it, the user can decide on the page (gemini-search-mcp open) or in a terminal: gemini-search-mcp delete ${task_id.slice(0, 8)}`,
      details: {},
    });
    expect(tablesWith(scene, task_id)).toContain("research_results");
    const unasked = await scene.command(["stop", task_id, "--delete"]);
    expect(unasked).toMatchObject({ code: 1, stderr: expect.stringContaining("nothing was deleted") });
    expect((await scene.command(["stop", task_id, "--delete", "--yes"])).code).toBe(0);
    expect(tablesWith(scene, task_id)).toEqual([]);
  });
});

test("a deleted run leaves only saved files behind, and its question is no longer joined (T-2)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const user = await agreeing(context, scene);
  const task_id = await finished(scene, server);
  const saved = await server.call("save_research_to_markdown", { task_id, output_dir: join(scene.configDir, "out") });
  const { isError, structured } = await remove(user, task_id);
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
  for (const again of [await remove(user, task_id), await server.call("get_research_results", { task_id })]) {
    expect(again.structured["error"]).toMatchObject({ code: "TASK_NOT_FOUND" });
  }
  expect(scene.gemini.ledger.entries().filter(({ method }) => method === "DELETE")).toEqual([]);
  const before = scene.accepted();
  const next = await server.call("start_deep_research", { query: QUERY });
  expect(next.structured["task_id"]).not.toBe(task_id);
  expect(next.structured).not.toHaveProperty("joined");
  expect(scene.accepted()).toBe(before + 1);
});

const SECRET = "Zyxomarker";

/** The database and its write-ahead log, as another program would read them. */
const filesWith = (scene: ResearchScene, text: string): string[] =>
  readdirSync(scene.configDir).filter(
    (name) => name.startsWith("deep_research.db") && readFileSync(join(scene.configDir, name)).includes(text),
  );

test("the text of a deleted run is gone from the database and its log at once, while servers have them open (T-2)", async (context) => {
  const scene = await openResearch(context);
  const [server, other] = [await scene.server(), await scene.server()];
  const { structured } = await server.call("search", { query: `What is a ${SECRET}?` });
  await other.call("list_research", {});
  // Written again, because the first pass of retention of either server may have emptied the log meanwhile. Changed,
  // because SQLite writes no page whose content stays the same.
  await waitFor(() => {
    scene.sql("update research_tasks set query = query || '?'");
    expect(filesWith(scene, SECRET)).toContain("deep_research.db-wal");
  });
  const done = await scene.command(["delete", structured["metadata"].task_id, "--yes"]);
  expect(done).toMatchObject({ code: 0 });
  expect(filesWith(scene, SECRET)).toEqual([]);
  // The servers go on with the same log.
  const { structured: next } = await server.call("search", { query: QUERY });
  expect((await other.call("list_research", {})).structured["runs"]).toMatchObject([
    { task_id: next["metadata"].task_id },
  ]);
});

test("a report that was saved to a file because the database refused it is deleted with its run (T-2, P5)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const server = await scene.server();
  const user = await agreeing(context, scene);
  const task_id = await startRun(server);
  scene.sql("create trigger refuse before insert on research_results begin select raise(abort, 'full'); end");
  scene.gemini.skip(20 * 60_000);
  scene.sql("update research_tasks set next_poll_at = 0");
  let backup = "";
  await waitFor(async () => {
    const { structured } = await server.call("check_research_status", { task_id });
    backup = String(structured["backup_file"]);
    expect(existsSync(backup)).toBe(true);
  });
  scene.sql("drop trigger refuse");
  await untilStatus(server, task_id, "completed");
  const own = await server.call("save_research_to_markdown", { task_id, output_dir: dirname(dirname(backup)) });
  expect((await remove(user, task_id)).structured).toMatchObject({ status: "deleted" });
  expect(existsSync(backup)).toBe(false);
  expect(existsSync(own.structured["file_path"])).toBe(true);
});

test("Google's copy is deleted first; if Google refuses, nothing is deleted (T-2)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const user = await agreeing(context, scene);
  const refused = await finished(scene, server);
  scene.play({ delete: [{ fault: "http-500" }] });
  const answer = await remove(user, refused, { delete_at_google: true });
  expect(answer.structured["error"]).toMatchObject({
    code: "GEMINI_UNAVAILABLE",
    message: expect.stringMatching(/^Google did not delete its copy, so the run was not deleted here either\. /),
  });
  expect(tablesWith(scene, refused)).toContain("research_results");
  scene.play({});
  const gone = await remove(user, refused, { delete_at_google: true });
  expect(gone.structured).toMatchObject({ status: "deleted", deleted_at_google: true });
  expect(tablesWith(scene, refused)).toEqual([]);
  const alone = await server.call("cancel_research", { task_id: refused, delete_at_google: true });
  expect(alone.structured["error"]).toMatchObject({ code: "INVALID_INPUT" });
});

test("of a fresh run, Google's 404 is no proof that its copy is deleted, and nothing is deleted (T-2)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const user = await agreeing(context, scene);
  const task_id = await finished(scene, server);
  scene.play({ delete: [{ fault: "http-404" }] });
  const { structured } = await remove(user, task_id, { delete_at_google: true });
  expect(structured["error"]).toMatchObject({
    code: "GEMINI_UNAVAILABLE",
    message: expect.stringContaining("does not find the copy"),
    suggestion: expect.stringContaining("Try again later"),
  });
  expect(tablesWith(scene, task_id)).toContain("research_attempts");
  scene.sql("update research_attempts set sent_at = sent_at - 86400000.0, created_at = created_at - 86400000.0");
  const gone = await remove(user, task_id, { delete_at_google: true });
  expect(gone.structured).toMatchObject({ status: "deleted", deleted_at_google: true });
});

test("with another key, Google's 404 is no proof that its copy is deleted, and nothing is deleted (T-2)", async (context) => {
  const scene = await openResearch(context, { foreign_key: 404 });
  const first = await scene.server();
  const task_id = await finished(scene, first);
  await first.close();
  const second = await agreeing(context, scene, { GEMINI_API_KEY: "another-key-0001" });
  const { isError, structured } = await remove(second, task_id, { delete_at_google: true });
  expect(isError).toBe(true);
  expect(structured).not.toHaveProperty("deleted_at_google");
  expect(structured["error"]).toMatchObject({
    code: "GEMINI_UNAVAILABLE",
    message: expect.stringContaining("started with another API key"),
    suggestion: expect.stringContaining("Restore GEMINI_API_KEY"),
  });
  expect(tablesWith(scene, task_id)).toContain("research_attempts");
  const third = await agreeing(context, scene);
  const gone = await remove(third, task_id, { delete_at_google: true });
  expect(gone.structured).toMatchObject({ status: "deleted", deleted_at_google: true });
});

test("a run under way is cancelled and then deleted (T-2, L1)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const server = await scene.server();
  const user = await agreeing(context, scene);
  const task_id = await startRun(server);
  expect((await remove(user, task_id)).structured).toMatchObject({ status: "deleted" });
  expect(tablesWith(scene, task_id)).toEqual([]);
  const [start] = scene.gemini.ledger.acceptedStarts();
  expect(scene.gemini.ledger.trafficOf(start?.id ?? "").cancels.length).toBeGreaterThan(0);
});

test("a start that Google may charge is not deleted while its id can still be found (I8, T-2)", async (context) => {
  const scene = await openResearch(context, { create: [{ fault: "accept-then-reset" }] });
  const server = await scene.server();
  const user = await agreeing(context, scene);
  const { structured } = await server.call("start_deep_research", { query: QUERY });
  const { task_id } = structured as { task_id: string };
  for (const _ of [1, 2]) {
    const { isError, structured: refused } = await remove(user, task_id);
    expect(isError).toBe(true);
    expect(refused).toMatchObject({ status: "cancelled", error: { code: "START_UNKNOWN" } });
  }
  expect(tablesWith(scene, task_id)).toContain("research_attempts");
  scene.sql("update research_attempts set created_at = 1 where task_id = ?", task_id);
  expect((await remove(user, task_id)).structured).toMatchObject({ status: "deleted" });
});

test("a run whose cancel Google has not confirmed is not deleted, however often that is requested (L1, T-2)", async (context) => {
  const scene = await openResearch(context, { ...SLOW, cancel: [{ fault: "http-500" }] });
  const server = await scene.server();
  const user = await agreeing(context, scene);
  const task_id = await startRun(server);
  for (const more of [{}, { delete_at_google: true }]) {
    const { isError, structured } = await remove(user, task_id, more);
    expect(isError).toBe(true);
    expect(structured).toMatchObject({ status: "cancelled", error: { code: "RESEARCH_NOT_COMPLETED" } });
    expect(structured["error"].suggestion).toMatch(/delete it again/i);
  }
  expect(tablesWith(scene, task_id)).toContain("research_attempts");
  expect(scene.gemini.ledger.entries().filter(({ method }) => method === "DELETE")).toEqual([]);
});

test("the page deletes runs of its own owner only, in the state in which it showed them (T-2, T-5, T28)", async (context) => {
  const scene = await openPageServer(context);
  const ann = await scene.tokenOf("ann");
  const ben = await scene.tokenOf("ben");
  const server = await scene.serve();
  const { body } = await server.post("/api/research", { query: QUERY }, ann);
  await waitFor(async () => {
    const run = await server.get(`/api/runs/${body.task_id}`, ann);
    expect(run.body).toMatchObject({ status: "completed", actions: ["delete"] });
  });
  const ofOtherOwner = await server.post(`/api/runs/${body.task_id}/delete`, {}, ben);
  expect(ofOtherOwner).toMatchObject({ status: 404, body: { error: { code: "TASK_NOT_FOUND" } } });
  for (const stale of [{}, { seen_status: "failed" }]) {
    expect(await server.post(`/api/runs/${body.task_id}/delete`, stale, ann)).toMatchObject({
      status: 409,
      body: {
        status: "completed",
        error: {
          code: "CONFIRMATION_NEEDED",
          message: "The run has changed since you were asked: it is now completed. Nothing was deleted.",
        },
      },
    });
  }
  const seen = { delete_at_google: true, seen_status: "completed" };
  const own = await server.post(`/api/runs/${body.task_id}/delete`, seen, ann);
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
