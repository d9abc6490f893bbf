/** Costs through the front door: the marks of a lower bound and of an estimated price, on every surface. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openPageServer } from "../kit/browser/page-api.ts";
import { openResearch, QUERY, type ResearchScene, startRun, untilStatus } from "../kit/server/research.ts";
import { waitFor } from "../kit/wait-for.ts";

const parsed = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

function storedMetadata(scene: ResearchScene, taskId: string): Record<string, unknown> {
  const [row] = scene.sql<{ metadata_json: string }>(
    "select metadata_json from research_results where task_id = ?",
    taskId,
  );
  return parsed(row?.metadata_json ?? "{}");
}

test("a model without a price makes the cost a lower bound on every surface (S6)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server({ env: { GEMINI_MODEL: "gemini-9" } });
  const { structured } = await server.call("search", { query: QUERY });
  const { task_id, ...metadata } = structured["metadata"];
  // The searches have a price, the tokens have none.
  expect(metadata).toMatchObject({ cost_usd: 0.014, cost_incomplete: true });
  expect(metadata).not.toHaveProperty("cost_estimated");
  const marked = { cost_usd: 0.014, cost_incomplete: true };
  const status = await server.call("check_research_status", { task_id });
  expect(status.structured).toMatchObject({ cost_so_far: 0.014, cost_incomplete: true });
  const results = await server.call("get_research_results", { task_id });
  expect(results.structured["metadata"]).toMatchObject(marked);
  expect((await server.call("list_research", {})).structured["runs"]).toMatchObject([marked]);
  const saved = await server.call("save_research_to_markdown", { task_id, output_dir: scene.configDir });
  expect(saved.isError).toBe(false);
  expect((await scene.command(["list"])).stdout).toContain("\t≥0.014\t");
  expect(parsed((await scene.command(["costs", "--json"])).stdout)).toMatchObject({
    total: marked,
    days: [marked],
    kinds: [{ kind: "search", ...marked }],
  });
  expect((await scene.command(["costs"])).stdout).toMatch(/^≥ \$0\.01 from /);
  expect(storedMetadata(scene, task_id)).toMatchObject({ ...marked, duration_ms: expect.any(Number) });
});

test("an unlisted model of a known family is priced and marked as estimated (S6)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server({ env: { GEMINI_MODEL: "gemini-3.9-flash" } });
  const { structured, text } = await server.call("search", { query: QUERY });
  expect(structured["metadata"]).toMatchObject({ cost_usd: expect.any(Number), cost_estimated: true });
  expect(text).toContain("cost_estimated: true");
  expect((await scene.command(["list"])).stdout).toMatch(/\t≈0\.\d+\t/);
  const listed = await scene.server({ env: { GEMINI_MODEL: "gemini-4-carbon" } });
  const { metadata } = (await listed.call("search", { query: QUERY })).structured;
  expect([metadata.cost_usd, metadata.cost_estimated]).toEqual([expect.any(Number), undefined]);
});

test("the user's prices may have dates (S6, M2)", async (context) => {
  const scene = await openResearch(context);
  const rows = [
    { input: 1, output: 1, until: "2020-01-01" },
    { input: 1_000, output: 1_000, from: "2020-01-02" },
  ];
  writeFileSync(join(scene.configDir, "prices.json"), JSON.stringify({ models: { "gemini-3.8-flash": rows } }));
  const { stdout } = await scene.command(["search", QUERY, "--json"]);
  expect(parsed(stdout)["metadata"]).toMatchObject({ cost_usd: expect.closeTo(1, -1) });
  const doctor = parsed((await scene.command(["doctor", "--json", "--offline"])).stdout);
  expect(doctor["checks"]).toContainEqual(
    // A warning in the two weeks before a price of the table ends.
    expect.objectContaining({ name: "prices", message: expect.stringContaining("2026-1") }),
  );
});

test("a cancelled run states no cost, not 0, while none is known (L1)", async (context) => {
  const scene = await openResearch(context, { create: [{ fault: "http-500" }] });
  const server = await scene.server();
  const started = await server.call("start_deep_research", { query: QUERY });
  expect(started.structured).toMatchObject({ status: "start_unknown" });
  const { structured } = await server.call("cancel_research", { task_id: started.structured["task_id"] });
  expect(structured).toMatchObject({ status: "cancelled", confirmed: false });
  expect(structured).not.toHaveProperty("cost_usd");
});

test("a start that Google certainly did not charge cost $0.00, on every surface (P6)", async (context) => {
  const scene = await openPageServer(context);
  const env = { GEMINI_API_KEY: "" };
  expect((await scene.command(["research", QUERY], { env })).code).toBe(1);
  const listed = parsed((await scene.command(["list", "--status", "failed", "--json"], { env })).stdout);
  expect(listed).toMatchObject({ runs: [{ status: "failed", error_code: "GEMINI_UNAVAILABLE", cost_usd: 0 }] });
  const server = await scene.serve();
  const { body } = await server.get("/api/runs");
  expect(body.runs).toMatchObject([{ status: "failed", cost_usd: 0 }]);
  expect((await server.get(`/api/runs/${body.runs[0].task_id}`)).body).toMatchObject({
    cost_usd: 0,
    usage_final: true,
  });
});

test("the stored result of a research includes its tokens, cost and duration (P6)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const task_id = await startRun(server);
  await untilStatus(server, task_id, "completed");
  await waitFor(() => {
    expect(storedMetadata(scene, task_id)).toMatchObject({
      duration_ms: expect.any(Number),
      tokens_used: { input: expect.any(Number), output: expect.any(Number) },
      cost_usd: expect.any(Number),
    });
  });
});

const LATE = { usage_after_ms: 4 * 3_600_000, speed: 1_000 };
const LATER_MS = 8 * 3_600_000;

/** A finished run whose usage Google has not reported. */
async function withoutUsage(scene: ResearchScene, query: string): Promise<string> {
  const server = await scene.server();
  const task_id = await startRun(server, query);
  await untilStatus(server, task_id, "completed");
  await server.close();
  return task_id;
}

test("costs --reconcile settles what Google reports by now, of deleted runs, too, and lists what stays reserved (P6)", async (context) => {
  const scene = await openResearch(context, { ...LATE, create: [{}, {}, { fault: "accept-then-reset" }] });
  await withoutUsage(scene, `${QUERY} 1`);
  const deleted = await withoutUsage(scene, `${QUERY} 2`);
  expect((await scene.command(["delete", deleted, "--yes"])).code).toBe(0);
  // As after three hours.
  scene.sql("update research_tasks set next_poll_at = null");
  expect((await scene.command(["research", `${QUERY} 3`, "--yes"])).code).not.toBe(0);
  scene.gemini.setScenario({ name: "hang", tasks: { search: [{ fault: "hang" }] }, interactions: LATE });
  const interrupted = scene.startCommand(["search", QUERY]);
  await waitFor(() => expect(scene.sql("select 1 from ledger where kind = 'search'")).toHaveLength(1));
  interrupted.child.kill("SIGKILL");
  await interrupted.ended;

  const reconcile = async () => parsed((await scene.command(["costs", "--reconcile", "--json"])).stdout);
  const stays = [
    { reason: "unknown_start", requests: 1, oldest: expect.any(String), reserved_usd: expect.any(Number) },
    { reason: "cut_off", requests: 1, oldest: expect.any(String), reserved_usd: expect.any(Number) },
  ];
  const before = scene.sql("select state, micros from ledger order by entry_id");
  expect(await reconcile()).toMatchObject({
    settled: { requests: 0, cost_usd: 0 },
    reserved: [{ reason: "no_usage", requests: 2 }, ...stays],
  });
  expect(scene.sql("select state, micros from ledger order by entry_id")).toEqual(before);

  scene.gemini.skip(LATER_MS);
  const answer = await reconcile();
  expect(answer).toMatchObject({ success: true, settled: { requests: 2, cost_usd: expect.any(Number) } });
  expect(answer["reserved"]).toEqual(stays);
  const rows = scene.sql(
    "select state, cost_micros > 0 and cost_micros = micros as exact, interaction_id as id from ledger",
  );
  expect(rows.filter(({ state }) => state === "settled")).toEqual(
    Array.from({ length: 2 }, () => ({ state: "settled", exact: 1, id: null })),
  );
  expect(scene.sql("select 1 from research_tasks where usage_final = 1")).toHaveLength(1);
  const { stdout } = await scene.command(["costs", "--reconcile"]);
  expect(stdout).toMatch(/^Nothing was settled\.\n\n *RESERVED +REQUESTS +OLDEST +REASON\n *\$\d/);
  expect(stdout).toContain("These may have been charged, so they stay counted.");
  expect((await scene.command(["costs", "--reconcile", "--csv"])).code).toBe(2);
});

test("deleting a run settles the usage that Google reports by then, before its copy there is deleted (P6, T-2)", async (context) => {
  const scene = await openResearch(context, LATE);
  const task_id = await withoutUsage(scene, QUERY);
  scene.gemini.skip(LATER_MS);
  expect((await scene.command(["delete", task_id, "--at-google", "--yes"])).code).toBe(0);
  expect(scene.sql("select state, task_id, interaction_id from ledger")).toEqual([
    { state: "settled", task_id: null, interaction_id: null },
  ]);
});

test("of a run that is deleted at Google, too, before its usage is reported, no id is kept (P6, T-2)", async (context) => {
  const scene = await openResearch(context, LATE);
  const task_id = await withoutUsage(scene, QUERY);
  expect((await scene.command(["delete", task_id, "--at-google", "--yes"])).code).toBe(0);
  expect(scene.sql("select state, task_id, interaction_id, base_url from ledger")).toEqual([
    { state: "reserved", task_id: null, interaction_id: null, base_url: null },
  ]);
  const { stdout } = await scene.command(["costs", "--reconcile"]);
  expect(stdout).toContain("its run was deleted");
});
