/**
 * Several processes on one database, and the ways to a research without a client: no key, the worker, the command line.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { TAKE_OVER_MS } from "../kit/store/databases.ts";
import { openResearch, QUERY, SLOW, startRun, statusOf, untilStatus } from "../kit/server/research.ts";
import { waitFor } from "../kit/wait-for.ts";

const INTERVAL_MS = 400;
/** The pace is spread by a tenth. */
const SHORTEST_MS = INTERVAL_MS * 0.9;

describe("three servers on one database", () => {
  test("poll each run once per interval in total, and each of them answers for all (I7, P2)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const env = { RESEARCH_POLL_INTERVAL_MS: String(INTERVAL_MS) };
    const servers = await Promise.all([1, 2, 3].map(() => scene.server({ env })));
    const runs = await Promise.all(
      servers.flatMap((server, n) => [startRun(server, `One ${n}`), startRun(server, `Two ${n}`)]),
    );
    const starts = scene.gemini.ledger.acceptedStarts();
    expect(starts).toHaveLength(6);
    for (const { id } of starts) {
      const pollsOf = () => scene.gemini.ledger.trafficOf(id).polls;
      await waitFor(() => expect(pollsOf().length).toBeGreaterThanOrEqual(5));
      const polls = pollsOf();
      const since = Date.now() - (polls[0] ?? 0);
      expect(polls.length).toBeLessThanOrEqual(2 + since / SHORTEST_MS);
    }
    for (const server of servers) {
      for (const task_id of runs) expect(await statusOf(server, task_id)).toMatchObject({ status: "running_async" });
      expect((await server.call("list_research", { kind: "agent" })).structured["runs"]).toHaveLength(6);
    }
    scene.gemini.skip(8 * 60_000);
    for (const server of servers) for (const task_id of runs) await untilStatus(server, task_id, "completed");
    expect(scene.sql("select count(*) as n, sum(partial) as partial from research_results")).toEqual([
      { n: 6, partial: 0 },
    ]);
  });

  test("follow a run in another server within seconds when its own is killed (P2)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const [first, second] = [await scene.server(), await scene.server()];
    const task_id = await startRun(first);
    await startRun(second, "Another question");
    process.kill(first.pid, "SIGKILL");
    scene.gemini.skip(8 * 60_000);
    await untilStatus(second, task_id, "completed", TAKE_OVER_MS);
    expect(scene.accepted()).toBe(2);
  });
});

describe("a server without a key", () => {
  test("does everything but what needs Google, and that says what is missing (A3, Q2, K1, L1, M1, N1)", async (context) => {
    const scene = await openResearch(context, { create: [{ life: { duration_ms: 0 } }, { life: SLOW }] });
    const first = await scene.server();
    const [done, going] = [await startRun(first, "Finished question"), await startRun(first, "Unfinished question")];
    await untilStatus(first, done, "completed");
    await first.close();
    const requests = scene.gemini.ledger.interactionRequests();

    const server = await scene.server({
      env: { GEMINI_API_KEY: "", RESEARCH_REPORTS_DIR: join(scene.configDir, "reports") },
    });
    const ask = async (tool: string, input: object) => (await server.call(tool, { ...input })).structured;
    expect(await ask("list_research", {})).toMatchObject({ success: true, runs: [{}, {}] });
    expect(await ask("check_research_status", { task_id: going })).toMatchObject({ status: "running_async" });
    expect(await ask("get_research_results", { task_id: done })).toMatchObject({ success: true });
    const { file_path } = await ask("save_research_to_markdown", { task_id: done });
    expect(existsSync(file_path)).toBe(true);
    expect(await ask("estimate_research_cost", { query: QUERY })).toMatchObject({ success: true });
    expect(await ask("start_deep_research", { query: QUERY })).toMatchObject({
      error: { code: "GEMINI_UNAVAILABLE", suggestion: expect.stringContaining("GEMINI_API_KEY") },
    });
    expect(await ask("cancel_research", { task_id: going })).toMatchObject({ status: "cancelled", confirmed: false });
    expect(scene.gemini.ledger.interactionRequests()).toEqual(requests);
    for (const line of server.stderr().trimEnd().split("\n").filter(Boolean)) expect(line).toMatch(/^\[[A-Z]+\] /);
  });
});

describe("without an MCP client", () => {
  test("`worker --until-idle` collects unfinished runs and exits with 0 (P2)", async (context) => {
    const scene = await openResearch(context, { ...SLOW, create: [{ life: { status: "failed" } }, {}] });
    const server = await scene.server();
    const runs = [await startRun(server, "First question"), await startRun(server, "Second question")];
    await server.close();
    const worker = scene.startCommand(["worker", "--until-idle"]);
    await waitFor(() => expect(worker.stderr()).toContain("[INFO] Polling 2 unfinished research runs."));
    await sleep(1_500);
    expect(worker.child.exitCode).toBeNull();
    scene.gemini.skip(8 * 60_000);
    const { code, stdout, stderr } = await worker.ended;
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toContain("[INFO] No unfinished research is left.");
    const ends = scene.sql<{ task_id: string; status: string }>("select task_id, status from research_tasks");
    expect(new Map(ends.map(({ task_id, status }) => [task_id, status]))).toEqual(
      new Map([
        [runs[0], "failed"],
        [runs[1], "completed"],
      ]),
    );
    expect((await scene.command(["worker", "--until-idle"])).code).toBe(0);
  });

  test("the command line starts, waits and prints the report; and watches a run of another process (I4, J2)", async (context) => {
    const scene = await openResearch(context, { speed: 250 });
    const { code, stdout, stderr } = await scene.command(["research", QUERY, "--wait"]);
    expect([code, stderr.includes("ERROR")]).toEqual([0, false]);
    expect(stdout).toContain("## Executive summary");
    expect(stdout).toContain("Sources:\n1. ");

    const asked = await scene.command(["research", "Another question", "--json"]);
    const { task_id } = JSON.parse(asked.stdout);
    expect(JSON.parse(asked.stdout)).toMatchObject({ success: true, status: "running_async" });
    const watched = await scene.command(["check-research-status", task_id, "--watch", "--json"]);
    expect(watched.code).toBe(0);
    expect(JSON.parse(watched.stdout)).toMatchObject({ success: true, task_id, report: expect.any(String) });
    const status = await scene.command(["check-research-status", task_id]);
    expect(status.stdout).toMatch(new RegExp(`^Completed · .* · \\$\\d.* · run ${task_id}\n$`));
    expect(scene.accepted()).toBe(2);
  });

  test("the command line waits after the report for the cost, which Google reports later (P6)", async (context) => {
    const scene = await openResearch(context, { usage_after_ms: 2_000_000 });
    const { code, stdout, stderr } = await scene.command(["research", QUERY, "--wait"]);
    expect([code, stdout.includes("## Executive summary")]).toEqual([0, true]);
    expect(stderr).toMatch(/Waiting for Google to report the cost; .*\nCost: [\d,]+ tokens · \$\d+\.\d\d\n$/s);
    expect(scene.sql("select usage_final from research_tasks")).toEqual([{ usage_final: 1 }]);
  });

  test("a failure on the command line is exit code 1, with its sentence on stderr (I6, K2)", async (context) => {
    const scene = await openResearch(context, {
      create: [{ fault: "http-403" }, { life: { duration_ms: 0, status: "failed" } }],
    });
    const refused = await scene.command(["research", QUERY, "--wait"]);
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain("GEMINI_UNAVAILABLE: Google does not allow this key to use the model.");
    const failed = await scene.command(["research", QUERY, "--wait"]);
    expect([failed.code, failed.stdout]).toEqual([1, ""]);
    expect(failed.stderr).toContain(
      "RESEARCH_FAILED: This run failed before producing any text. The research failed at Google.",
    );
  });
});
