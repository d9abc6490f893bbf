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
