/** What an operator reads of a running server: metrics and JSON log lines. */

import { expect, test } from "vitest";
import { openHttpScene } from "../kit/server/http-server.ts";
import { openResearch, QUERY } from "../kit/server/research.ts";
import { TEST_KEY } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

test("/metrics is Prometheus text for the operator's token, without questions, users and secrets (A9, T9)", async (context) => {
  const scene = await openHttpScene(context);
  const server = await scene.http();
  expect((await fetch(`${server.url}/metrics`)).status).toBe(401);
  expect((await server.request("/metrics", { headers: { origin: "https://elsewhere.example" } })).status).toBe(403);
  const { call } = await server.connect();
  expect((await call("search", { query: QUERY })).isError).toBe(false);
  await call("check_research_status", { task_id: "no such id" });
  await call("no_such_tool_for_heat_pumps", {}).catch(() => undefined);

  const response = await server.request("/metrics");
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of lines) expect(line).toMatch(/^[a-z_]+(?:\{(?:\w+="\w+",?)+\})? [\d.]+(?:e-\d+)?$/);
  expect(lines).toContain('gemini_search_runs{status="completed",kind="search"} 1');
  expect(lines).toContain('gemini_search_calls_total{operation="search",outcome="ok"} 1');
  expect(lines).toContain('gemini_search_calls_total{operation="check_research_status",outcome="INVALID_TASK_ID"} 1');
  for (const secret of [TEST_KEY, server.token, "heat", "local", "no such id"]) expect(text).not.toContain(secret);
});

test("JSON log lines name their run (A2)", async (context) => {
  const scene = await openResearch(context, { get: [{ fault: "http-500" }] });
  const server = await scene.server({ env: { LOG_FORMAT: "json", DEBUG: "true" } });
  const lines = (): Record<string, unknown>[] =>
    server
      .stderr()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
  await server.call("deep_search", { query: QUERY });
  const started = await server.call("start_deep_research", { query: QUERY });
  const taskId: string = started.structured["task_id"];
  await waitFor(() => {
    expect(lines().filter(({ message }) => String(message).startsWith(`Run ${taskId}: `))).not.toEqual([]);
  });
  await server.close();
  for (const line of lines().filter(({ message }) => String(message).includes(taskId)))
    expect(line).toMatchObject({ task_id: taskId });
  const rounds = lines().filter(({ message }) => String(message).startsWith("Deep search round"));
  expect(rounds.length).toBeGreaterThan(0);
  for (const line of rounds) expect(line["task_id"]).toMatch(/^[\da-f-]{36}$/);
});
